"""The configurations and the key of an autotune decorator, where they stand in it as plain lists."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .definition import KernelDef, Module

Value = int | str


@dataclass(frozen=True)
class WarpChoices:
    """The numbers of warps that are tried, and where others can be added."""

    values: tuple[int, ...]
    """Without repeats, in source order."""
    numbers: ast.List | ast.Tuple | None
    """The list of numbers that a comprehension walks; None where configurations stand one by one."""
    configs: ast.List | None
    """The list of configurations; None for a comprehension."""
    pattern: ast.Call | None
    """The last configuration of that list with the fewest warps: others are made like it."""


def decorator_argument(kernel: KernelDef, name: str, position: int) -> ast.expr | None:
    """`configs` (0) or `key` (1) of the kernel's autotune decorator."""
    if kernel.autotune is None:
        return None
    found = next((k.value for k in kernel.autotune.keywords if k.arg == name), None)
    if found is None and position < len(kernel.autotune.args):
        found = kernel.autotune.args[position]
    return found


def warp_choices(module: Module, configs: ast.expr) -> WarpChoices | None:
    """The warps of a list of `Config(..., num_warps=n)` or of a comprehension over a list of them; None for others."""
    if isinstance(configs, ast.List):
        calls = [c for c in configs.elts if isinstance(c, ast.Call) and is_config(module, c)]
        if not calls or len(calls) != len(configs.elts):
            return None
        numbers = [warps_of(c) for c in calls]
        known = [n for n in numbers if n is not None]
        if len(known) != len(numbers):
            return None
        fewest = min(known)
        pattern = [c for c, n in zip(calls, known, strict=True) if n == fewest][-1]
        return WarpChoices(tuple(dict.fromkeys(known)), None, configs, pattern)
    if isinstance(configs, ast.ListComp) and isinstance(configs.elt, ast.Call) and is_config(module, configs.elt):
        given = next((k.value for k in configs.elt.keywords if k.arg == "num_warps"), None)
        if not isinstance(given, ast.Name) or any(g.ifs for g in configs.generators):
            return None
        loops = [g for g in configs.generators if isinstance(g.target, ast.Name) and g.target.id == given.id]
        listed = loops[0].iter if len(loops) == 1 else None
        if not isinstance(listed, (ast.List, ast.Tuple)):
            return None
        found = [e.value for e in listed.elts if isinstance(e, ast.Constant) and type(e.value) is int]
        if len(found) != len(listed.elts) or not found:
            return None
        return WarpChoices(tuple(dict.fromkeys(found)), listed, None, None)
    return None


def is_config(module: Module, call: ast.Call) -> bool:
    """True for `triton.Config(...)`, however it is imported."""
    return (module.names.dotted(call.func) or ast.unparse(call.func)).split(".")[-1] == "Config"


def warps_of(config: ast.Call) -> int | None:
    """The literal `num_warps` of a configuration; Triton's default of 4 where it names none; None where unknown."""
    if any(k.arg is None for k in config.keywords) or len(config.args) > 1:
        return None
    given = next((k.value for k in config.keywords if k.arg == "num_warps"), None)
    if given is None:
        return 4
    return given.value if isinstance(given, ast.Constant) and type(given.value) is int else None


def key_names(key: ast.expr | None) -> tuple[ast.List, tuple[str, ...]] | None:
    """A literal list of names; None for anything else."""
    if not isinstance(key, ast.List):
        return None
    names = [e.value for e in key.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    return (key, tuple(names)) if len(names) == len(key.elts) else None
