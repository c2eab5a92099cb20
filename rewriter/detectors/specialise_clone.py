"""specialise_clone. Used: a kernel that shares most of its statements with a more general kernel beside it, and leaves
out that one's loop over time or several of its compile-time flags."""

from __future__ import annotations

import ast

from ..kernel.definition import KernelDef
from .base import Detector, Seen
from .view import KernelView

_SHARED = 0.3
"""Part of the smaller kernel's statements that the general kernel must hold too."""
_FLAGS = 3
"""Compile-time parameters fewer than the general kernel has."""


def _uses(view: KernelView) -> list[Seen]:
    mine = _statements(view.kernel)
    if len(mine) < 8:
        return []
    for other in view.module.kernels:
        if other is view.kernel or not other.is_entry or not view.kernel.is_entry:
            continue
        theirs = _statements(other)
        if len(mine & theirs) < _SHARED * len(mine) or not _is_smaller(view.kernel, other):
            continue
        return [Seen(view.kernel.node.lineno, f"is {other.name} for one case, without its loop or flags")]
    return []


def _is_smaller(kernel: KernelDef, other: KernelDef) -> bool:
    """Without the general kernel's loop, and with fewer flags; both read and write the same kind of output."""
    flags = len(_tested(other)) - len(_tested(kernel))
    return flags >= 1 and _loops(kernel) < _loops(other) and _outputs(kernel) <= _outputs(other) or (
        flags >= _FLAGS and _loops(kernel) <= _loops(other) and set(kernel.parameter_names) < set(other.parameter_names))


def _loops(kernel: KernelDef) -> int:
    return sum(isinstance(n, ast.For | ast.While) for n in ast.walk(kernel.node))


def _tested(kernel: KernelDef) -> set[str]:
    """Constexpr parameters that branches test."""
    return {n.id for node in ast.walk(kernel.node) if isinstance(node, ast.If) for n in ast.walk(node.test)
            if isinstance(n, ast.Name) and n.id in kernel.constexprs}


def _outputs(kernel: KernelDef) -> set[str]:
    """Names of the parameters in the addresses of stores, as far as they stand there or in one step."""
    written = {n.id for node in ast.walk(kernel.node) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
               and node.func.attr == "store" and node.args for n in ast.walk(node.args[0]) if isinstance(n, ast.Name)}
    for node in ast.walk(kernel.node):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id in written for t in node.targets):
            written |= {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
    return written & set(kernel.parameter_names)


def _statements(kernel: KernelDef) -> set[str]:
    """Simple statements as text, without what every kernel has: program ids and ranges."""
    return {ast.unparse(s) for s in ast.walk(kernel.node) if isinstance(s, ast.Assign | ast.AugAssign | ast.Expr)
            and not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))}


DETECTOR = Detector("specialise_clone", _uses)
