"""What a kernel's decorators choose: keys of autotune configurations, heuristics, and who reads a parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .definition import KernelDef, Module

_DEPTH = 5
"""How many names are followed on the way to a Config."""


def tuned_names(module: Module, kernel: KernelDef) -> tuple[frozenset[str], bool]:
    """Keys of the autotuner's configurations (tiles, not warps or stages), and whether all of the list was read.

    Followed through names and helper functions of the file. No autotuner: nothing, and all of it.
    """
    if kernel.autotune is None:
        return frozenset(), True
    configs = next((k.value for k in kernel.autotune.keywords if k.arg == "configs"), None)
    if configs is None and kernel.autotune.args:
        configs = kernel.autotune.args[0]
    if configs is None:
        return frozenset(), False
    keys = list(_keys(module, configs, _DEPTH))
    return frozenset(k for k in keys if k is not None), None not in keys


def autotune_reading(kernel: KernelDef, param: str) -> tuple[ast.expr, ...]:
    """Parts of the autotune decorator, other than its configurations, that name the parameter (`key=["K", "BV"]`)."""
    if kernel.autotune is None:
        return ()
    parts = [k.value for k in kernel.autotune.keywords if k.arg != "configs"] + kernel.autotune.args[1:]
    return tuple(n for part in parts for n in ast.walk(part) if isinstance(n, ast.Constant) and n.value == param)


def heuristics_of(kernel: KernelDef) -> list[tuple[str, ast.expr]]:
    """Each heuristic: the parameter that it computes and its function."""
    found: list[tuple[str, ast.expr]] = []
    for call in kernel.heuristics:
        table = call.args[0] if call.args else next((k.value for k in call.keywords), None)
        if isinstance(table, ast.Dict):
            pairs = zip(table.keys, table.values, strict=True)
            found += [(str(key.value), value) for key, value in pairs if isinstance(key, ast.Constant)]
        elif isinstance(table, ast.Call):
            found += [(k.arg, k.value) for k in table.keywords if k.arg]
    return found


def may_be_computed(kernel: KernelDef, param: str) -> bool:
    """True where a heuristic sets the parameter, whatever a launch passes, or heuristics are not written out there."""
    for call in kernel.heuristics:
        table = call.args[0] if call.args else next((k.value for k in call.keywords), None)
        written = isinstance(table, ast.Dict) and all(isinstance(k, ast.Constant) for k in table.keys)
        is_dict = isinstance(table, ast.Call) and isinstance(table.func, ast.Name) and table.func.id == "dict"
        if not written and not (is_dict and isinstance(table, ast.Call) and all(k.arg for k in table.keywords)):
            return True
    return param in {name for name, _ in heuristics_of(kernel)}


def heuristics_reading(kernel: KernelDef, param: str) -> dict[str, ast.expr]:
    """Heuristics whose function reads the parameter (`args["BV"]`), by the name that they compute."""
    return {
        name: function
        for name, function in heuristics_of(kernel)
        if any(isinstance(n, ast.Constant) and n.value == param for n in ast.walk(function))
    }


def _keys(module: Module, node: ast.expr, depth: int) -> Iterator[str | None]:
    """Keys of every Config in the expression; None for a part that the file does not hold."""
    match node:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for element in elements:
                yield from _keys(module, element, depth)
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element) | ast.Starred(value=element):
            yield from _keys(module, element, depth)
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            yield from _keys(module, left, depth)
            yield from _keys(module, right, depth)
        case ast.Call(func=function) if _is_config(module, function):
            yield from _config_keys(node)
        case ast.Call(func=ast.Name(id="list" | "filter" | "sorted" | "tuple"), args=arguments):
            for argument in arguments:
                if not isinstance(argument, ast.Lambda):
                    yield from _keys(module, argument, depth)
        case ast.Call(func=ast.Name(id=name)) if name in module.names.functions:
            for definition in module.names.functions[name]:
                calls = [n for n in ast.walk(definition) if isinstance(n, ast.Call) and _is_config(module, n.func)]
                yield from (key for call in calls for key in _config_keys(call))
                if not calls:
                    yield None
        case ast.Name(id=name) if depth and name in module.names.constants:
            for value in module.names.constants[name]:
                yield from _keys(module, value, depth - 1)
        case _:
            yield None


def _is_config(module: Module, function: ast.expr) -> bool:
    return (module.names.dotted(function) or ast.unparse(function)).split(".")[-1] == "Config"


def _config_keys(config: ast.Call) -> Iterator[str | None]:
    table = config.args[0] if config.args else next((k.value for k in config.keywords if k.arg == "kwargs"), None)
    match table:
        case None:
            return
        case ast.Dict(keys=keys):
            yield from (str(k.value) if isinstance(k, ast.Constant) else None for k in keys)
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            yield from (k.arg for k in keywords)
        case _:
            yield None
