"""The configurations that an autotune decorator tries, written out where the file holds all their parts."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import Any

from skel.rewriter.kernel.configurations import decorator_argument, is_config
from skel.rewriter.kernel.definition import KernelDef, Module

MOST = 512
"""More configurations than these are not written out."""
_DEPTH = 5


class _Unknown(Exception):
    """A part that the file does not hold, or that is computed."""


def configurations(module: Module, kernel: KernelDef) -> list[dict[str, Any]] | None:
    """Each configuration: its constexprs, `num_warps`, `num_stages`. Both arms of a choice count.

    None without an autotuner, or where a part is computed or stands elsewhere.
    """
    configs = decorator_argument(kernel, "configs", 0)
    if configs is None:
        return None
    try:
        found = list(itertools.islice(_configs(module, configs, {}, _DEPTH), MOST + 1))
    except _Unknown:
        return None
    unique = {repr(sorted(one.items(), key=str)): one for one in found}
    return list(unique.values()) if len(found) <= MOST else None


def ranges(configs: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The values of each key over all configurations, in order."""
    found: dict[str, dict[Any, None]] = {}
    for one in configs:
        for key, value in one.items():
            found.setdefault(key, {})[value] = None
    return {key: sorted(values, key=lambda v: (str(type(v)), v)) for key, values in sorted(found.items())}


def _configs(module: Module, node: ast.expr, bound: dict[str, Any], depth: int) -> Iterator[dict[str, Any]]:
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for element in elements:
                yield from _configs(module, element, bound, depth)
        case ast.Starred(value=inner):
            yield from _configs(module, inner, bound, depth)
        case ast.BinOp(left=left, op=ast.Add(), right=right) | ast.IfExp(body=left, orelse=right):
            yield from _configs(module, left, bound, depth)
            yield from _configs(module, right, bound, depth)
        case ast.ListComp(elt=element, generators=generators):
            for values in _bindings(module, generators, bound, depth):
                yield from _configs(module, element, values, depth)
        case ast.Call() if is_config(module, node):
            yield _config(module, node, bound, depth)
        case ast.Name(id=name) if depth and name in module.names.constants:
            for value in module.names.constants[name]:
                yield from _configs(module, value, {}, depth - 1)
        case ast.Call(func=ast.Name(id=name)) if depth and len(module.names.functions.get(name, ())) == 1:
            returns = [n for n in ast.walk(module.names.functions[name][0]) if isinstance(n, ast.Return)]
            if not returns:
                raise _Unknown
            for one in returns:
                if one.value is None:
                    raise _Unknown
                yield from _configs(module, one.value, {}, depth - 1)
        case _:
            raise _Unknown


def _bindings(
    module: Module, generators: list[ast.comprehension], bound: dict[str, Any], depth: int
) -> Iterator[dict[str, Any]]:
    if not generators:
        yield bound
        return
    first, *rest = generators
    # A filter is read as taking all: what is tried may be less, never more.
    for value in _values(module, first.iter, bound, depth):
        match first.target:
            case ast.Name(id=name):
                inner = {**bound, name: value}
            case ast.Tuple(elts=targets) if isinstance(value, tuple | list) and len(value) == len(targets):
                pairs = zip(targets, value, strict=True)
                inner = {**bound, **{t.id: v for t, v in pairs if isinstance(t, ast.Name)}}
            case _:
                raise _Unknown
        yield from _bindings(module, rest, inner, depth)


def _values(module: Module, node: ast.expr, bound: dict[str, Any], depth: int) -> list[Any]:
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_value(module, element, bound, depth) for element in elements]
        case ast.IfExp(body=left, orelse=right):
            return [*_values(module, left, bound, depth), *_values(module, right, bound, depth)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*_values(module, left, bound, depth), *_values(module, right, bound, depth)]
        case ast.Name(id=name) if depth and name in module.names.constants:
            return [v for value in module.names.constants[name] for v in _values(module, value, {}, depth - 1)]
        case ast.Call(func=ast.Name(id="range"), args=arguments):
            numbers = [_value(module, a, bound, depth) for a in arguments]
            if all(type(n) is int for n in numbers) and len(range(*numbers)) <= MOST:
                return list(range(*numbers))
    raise _Unknown


def _value(module: Module, node: ast.expr, bound: dict[str, Any], depth: int) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in bound:
            return bound[name]
        case ast.Name(id=name) if depth and len(module.names.constants.get(name, ())) == 1:
            return _value(module, module.names.constants[name][0], {}, depth - 1)
        case ast.Tuple(elts=elements):
            return tuple(_value(module, element, bound, depth) for element in elements)
        case ast.BinOp(
            left=left, op=ast.Mult() | ast.FloorDiv() | ast.Add() | ast.Sub() | ast.Pow() as op, right=right
        ):
            a, b = _value(module, left, bound, depth), _value(module, right, bound, depth)
            if type(a) is int and type(b) is int and (not isinstance(op, ast.FloorDiv) or b):
                if isinstance(op, ast.Pow):
                    return a**b if 0 <= b < 32 else None
                return {ast.Mult: a * b, ast.Add: a + b, ast.Sub: a - b}.get(type(op), a // b if b else None)
    raise _Unknown


def _config(module: Module, call: ast.Call, bound: dict[str, Any], depth: int) -> dict[str, Any]:
    table = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "kwargs"), None)
    found: dict[str, Any] = {}
    match table:
        case None:
            pass
        case ast.Dict(keys=keys, values=values) if all(isinstance(k, ast.Constant) for k in keys):
            pairs = zip(keys, values, strict=True)
            found = {str(k.value): _value(module, v, bound, depth) for k, v in pairs if isinstance(k, ast.Constant)}
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords) if all(k.arg for k in keywords):
            found = {str(k.arg): _value(module, k.value, bound, depth) for k in keywords}
        case _:
            raise _Unknown
    for keyword in call.keywords:
        if keyword.arg in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
            found[keyword.arg] = _value(module, keyword.value, bound, depth)
    return found
