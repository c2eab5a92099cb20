"""Calls: Triton's language functions by their table, methods of values, helpers inlined, the rest unknown."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from . import memory, shapes
from .arithmetic import elementwise, opaque_of
from .call_arguments import arguments, cast, opaque
from .callees import Callee
from .functions import HANDLERS, Handler, number, range_value
from .memory import argument
from .operations import ELEMENTWISE, HINTS, KEEP_DIMS_POSITION, KEEPS_ZERO, NO_VALUE, REDUCTIONS, SCANS, TRANSCENDENTAL
from .value import Environment, Value

if TYPE_CHECKING:
    from .interpreter import Interpreter


def call(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    """The value of a call."""
    callee = run.callee(node.func, env)
    if callee is not None and callee.triton is not None and not callee.definitions:
        return language(run, callee.triton, node, env)
    if callee is not None and callee.definitions:
        return _helper(run, node, env, callee)
    if isinstance(node.func, ast.Attribute) and run.frame.module.names.dotted(node.func) is None:
        return _method(run, node, env)
    if isinstance(node.func, ast.Name) and node.func.id in _BUILTINS and node.func.id not in env.names:
        return _BUILTINS[node.func.id](run, node, env)
    return opaque(run, node, env)


def language(run: Interpreter, name: str, node: ast.Call, env: Environment) -> Value:
    """A function of `triton.language`."""
    short = name.split(".")[-1]
    handler = HANDLERS.get(short)
    if handler is not None:
        return handler(run, node, env)
    if short.startswith("atomic_"):
        return memory.atomic(run, node, env, short)
    if short in REDUCTIONS:
        return _reduction(run, short, node, env)
    if short in SCANS:
        return _scan(run, short, node, env)
    if short in HINTS:
        values = arguments(run, node, env)
        return values[0] if values else Value()
    if short in NO_VALUE:
        arguments(run, node, env)
        return Value()
    if short in ELEMENTWISE or "libdevice." in name:
        return _elementwise(run, short, node, env)
    return opaque(run, node, env)


def _helper(run: Interpreter, node: ast.Call, env: Environment, callee: Callee) -> Value:
    from .joins import join

    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        return opaque(run, node, env)
    args = [run.eval(a, env) for a in node.args]
    keywords = {k.arg: run.eval(k.value, env) for k in node.keywords if k.arg}
    results: list[Value] = []
    for module, kernel in callee.definitions:
        value = run.inline(module, kernel, node, args, keywords)
        if value is None:
            return opaque(run, node, env)
        results.append(value)
    if callee.triton is not None:
        results.append(language(run, callee.triton, node, env))
    joined = results[0]
    for i, value in enumerate(results[1:]):
        joined = join(joined, value, f"helper{run.site(node)}.{i}")
    return joined


def _method(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    assert isinstance(node.func, ast.Attribute)
    value = run.eval(node.func.value, env)
    name = node.func.attr
    if value.block is not None and value.dims == () and name in ("load", "store", "gather", "scatter", "atomic_add"):
        return _descriptor(run, node, env, value, name)
    if name == "to" or name == "cast":
        return cast(run, value, node, env, 0)
    if name in ("value", "item"):
        return value
    # A method is the function of that name with the value as first argument.
    as_call = ast.Call(func=node.func, args=[node.func.value, *node.args], keywords=node.keywords)
    ast.copy_location(as_call, node)
    if name in HANDLERS or name in REDUCTIONS or name in SCANS or name in ELEMENTWISE or name.startswith("atomic_"):
        return language(run, name, as_call, env)
    return opaque(run, node, env)


def _descriptor(run: Interpreter, node: ast.Call, env: Environment, descriptor: Value, name: str) -> Value:
    if name not in ("load", "store"):
        return opaque(run, node, env)
    pointer = memory.descriptor_access(run, node, env, descriptor, node.args[0] if node.args else None)
    if name == "load":
        return memory.load(run, node, env, pointer)
    return memory.store(run, node, env, pointer)


def _reduction(run: Interpreter, name: str, node: ast.Call, env: Environment) -> Value:
    first = argument(node, 0, "input")
    value = run.eval(first, env) if first is not None else Value(dims=None)
    axis, known = _axis_argument(run, node, env)
    keep = argument(node, KEEP_DIMS_POSITION[name], "keep_dims")
    if keep is not None and not (isinstance(keep, ast.Constant) and isinstance(keep.value, bool)):
        known = False
    keep_dims = isinstance(keep, ast.Constant) and keep.value is True
    operation = name
    if value.items is not None:
        items = tuple(
            shapes.reduced(run, i, axis, keep_dims, operation, node) if known else shapes.collapsed(run, i, node, name)
            for i in value.items
        )
        return Value(items=items)
    if known:
        result = shapes.reduced(run, value, axis, keep_dims, operation, node)
    else:
        result = shapes.collapsed(run, value, node, name)
    if name in ("max", "min") and argument(node, 2, "return_indices") is not None:
        result = Value(items=(result, result))
    run.record_work(name, node, result, value)
    return result


def _axis_argument(run: Interpreter, node: ast.Call, env: Environment) -> tuple[int | None, bool]:
    """Dimension of a reduction or scan and whether it is known; no argument means all."""
    value = argument(node, 1, "axis") or argument(node, 9, "dim")
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return None, True
    constant = run.eval(value, env).constant
    return (constant, True) if isinstance(constant, int) else (None, False)


def _scan(run: Interpreter, name: str, node: ast.Call, env: Environment) -> Value:
    first = argument(node, 0, "input")
    value = run.eval(first, env) if first is not None else Value(dims=None)
    axis, known = _axis_argument(run, node, env) if name != "topk" else (None, argument(node, 2, "dim") is None)
    if value.items is not None:
        return Value(
            items=tuple(
                shapes.scanned(run, i, axis, name, node) if known else shapes.collapsed(run, i, node, name)
                for i in value.items
            )
        )
    result = shapes.scanned(run, value, axis, name, node) if known else shapes.collapsed(run, value, node, name)
    run.record_work(name, node, result, value)
    return result


def _elementwise(run: Interpreter, name: str, node: ast.Call, env: Environment) -> Value:
    values = arguments(run, node, env)
    if not values:
        return Value()
    result = elementwise(values, node.lineno, name, keeps_zero=name in KEEPS_ZERO, linear=name in ("cast", "neg"))
    if name in ("minimum", "maximum") and all(v.poly is not None and not v.dims for v in values):
        operands = [v.poly for v in values if v.poly is not None]
        result = number(result, opaque_of(name, *operands), *values)
    if name in ("rand", "randint", "randn", "philox", "randint4x", "rand4x", "randn4x"):
        result = replace(
            result, items=tuple(replace(result) for _ in range(4)) if name.endswith("4x") or name == "philox" else None
        )
    if name in TRANSCENDENTAL or name.startswith("fast_"):
        run.record_work(name, node, result, values[0])
    return result


def _scalar_builtin(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = arguments(run, node, env)
    result = elementwise(values, node.lineno, "builtin") if values else Value()
    if values and all(v.poly is not None and not v.dims for v in values):
        name = node.func.id if isinstance(node.func, ast.Name) else "builtin"
        if name == "int" and len(values) == 1:
            return values[0]
        return number(result, opaque_of(name, *[v.poly for v in values if v.poly is not None]), *values)
    return result


_BUILTINS: dict[str, Handler] = dict.fromkeys(
    ("min", "max", "abs", "int", "float", "bool", "len", "isinstance"), _scalar_builtin
)
_BUILTINS["range"] = range_value
