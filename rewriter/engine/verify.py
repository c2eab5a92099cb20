"""The result, analysed again: what was proved of the original must still hold of the rewritten kernel."""

from __future__ import annotations

import ast
import builtins
from collections import Counter

from ..analysis.facts import Facts, analyse
from ..kernel.definition import KernelDef, Module, choose_kernel
from ..kernel.launch import launches_of
from ..reasons import refuse


def verify_result(before: Module, after: Module, kernel: str) -> None:
    """Raises Refuse(`inconsistent_result`) where the rewritten kernel is not what the original was.

    Held: the same number of launches; every store and atomic of the original is there, with the same number of loads
    at least; no name is read that is never set; nothing outside the kernel's file changed kind.
    """
    old, new = choose_kernel(before, kernel), choose_kernel(after, kernel)
    if len(launches_of(before, old)) != len(launches_of(after, new)):
        raise refuse("inconsistent_result", new.node, what="a launch was lost")
    _same_effects(analyse(before, old), analyse(after, new))
    missing = _unset_names(new) - _unset_names(old)
    if missing:
        raise refuse("inconsistent_result", new.node, what=f"{', '.join(sorted(missing))} is read but never set")
    if [k.name for k in before.kernels] != [k.name for k in after.kernels]:
        raise refuse("inconsistent_result", new.node, what="the kernels of the file changed")


def _same_effects(old: Facts, new: Facts) -> None:
    """Stores and atomics by kind, and the parameters they write."""
    def effects(facts: Facts) -> Counter[tuple[str, frozenset[str]]]:
        seen = {id(a.node): (a.kind, a.pointer.bases) for a in facts.stores}
        return Counter(seen.values())
    if effects(old) != effects(new):
        raise refuse("inconsistent_result", new.kernel.node, what="the stores are not those of the original")


def _unset_names(kernel: KernelDef) -> set[str]:
    """Names read in the kernel and never set there: globals and builtins, the same before and after."""
    read = {n.id for n in ast.walk(kernel.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    bound = {n.id for n in ast.walk(kernel.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return read - bound - set(kernel.parameter_names) - set(dir(builtins))
