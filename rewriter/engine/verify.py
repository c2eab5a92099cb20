"""The result, analysed again: what was proved of the original must still hold of the rewritten kernel."""

from __future__ import annotations

import ast
import builtins
from collections import Counter

from ..analysis.facts import analyse
from ..kernel.definition import KernelDef, Module, choose_kernel
from ..kernel.launch import launches_of
from ..reasons import refuse


def verify_result(before: Module, after: Module, kernel: str) -> None:
    """Raises Refuse(`inconsistent_result`) where the rewritten kernel is not what the original was.

    Held: the same number of launches; every store and atomic of the original is there, with the same number of loads
    at least; no name is read that is never set; the kernels of the file are all there, beside those that were added.
    """
    old, new = choose_kernel(before, kernel), choose_kernel(after, kernel)
    if len(launches_of(before, old)) != len(launches_of(after, new)):
        raise refuse("inconsistent_result", new.node, what="a launch was lost")
    if _kernel_side(before) != _kernel_side(after):
        _same_effects(new, _effects(before, old), _effects(after, new))
    missing = _unset_names(new) - _unset_names(old)
    if missing:
        raise refuse("inconsistent_result", new.node, what=f"{', '.join(sorted(missing))} is read but never set")
    names = [k.name for k in before.kernels]
    if names != [k.name for k in after.kernels if k.name in names]:
        raise refuse("inconsistent_result", new.node, what="the kernels of the file changed")


Effects = Counter[tuple[str, frozenset[str]]]
_REMEMBERED: dict[tuple[str, str, int], Effects] = {}
"""Effects by the kernel side of a file: candidates that differ in their launcher only are analysed once."""
_MOST = 128


def _effects(module: Module, kernel: KernelDef) -> Effects:
    """Stores and atomics by kind, with the parameters they write."""
    key = (_kernel_side(module), kernel.name, kernel.node.lineno)
    if key not in _REMEMBERED:
        if len(_REMEMBERED) >= _MOST:
            _REMEMBERED.clear()
        seen = {id(a.node): (a.kind, a.pointer.bases) for a in analyse(module, kernel).stores}
        _REMEMBERED[key] = Counter(seen.values())
    return _REMEMBERED[key]


def _kernel_side(module: Module) -> str:
    """Everything of a file that a kernel's analysis reads: its jit functions, imports and constants."""
    parts = [module.source.path]
    jitted = {k.node for k in module.kernels}
    for statement in module.source.tree.body:
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)) or statement in jitted:
            parts.append(module.source.segment(statement))
    nested = [k for k in module.kernels if k.node not in module.source.tree.body]
    return "\n".join([*parts, *(module.source.segment(k.node) for k in nested)])


def _same_effects(new: KernelDef, before: Effects, after: Effects) -> None:
    if before != after:
        raise refuse("inconsistent_result", new.node, what="the stores are not those of the original")


def _unset_names(kernel: KernelDef) -> set[str]:
    """Names read in the kernel and never set there: globals and builtins, the same before and after."""
    read = {n.id for n in ast.walk(kernel.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    bound = {n.id for n in ast.walk(kernel.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return read - bound - set(kernel.parameter_names) - set(dir(builtins))
