"""specialise_clone. Used: a kernel that shares its statements with a more general kernel beside it, writes the same
outputs, and leaves out that one's loop and some of its compile-time flags: the case of one step."""

from __future__ import annotations

import ast

from ..kernel.definition import KernelDef
from .base import Detector, Seen
from .view import KernelView

_SHARED = 0.25
"""Part of the smaller kernel's statements that the general kernel must hold too, word for word."""
_FLAGS = 3
"""Compile-time flags that the general kernel tests and the clone does not, at least."""
_LEAST = 8
"""Statements a kernel must have for that part to mean anything."""


def _uses(view: KernelView) -> list[Seen]:
    mine = _statements(view.kernel)
    if len(mine) < _LEAST or _loops(view.kernel) or not view.kernel.is_entry:
        return []
    for other in view.module.kernels:
        if (
            other is view.kernel
            or not other.is_entry
            or not _steps(other)
            or len(_tested(other)) < len(_tested(view.kernel)) + _FLAGS
        ):
            continue
        if len(mine & _statements(other)) >= _SHARED * len(mine) and _outputs(view) <= _outputs(view.of(other)):
            return [Seen(view.kernel.node.lineno, f"is {other.name} for one step, without its loop and its flags")]
    return []


def _loops(kernel: KernelDef) -> int:
    return sum(isinstance(n, ast.For | ast.While) for n in ast.walk(kernel.node))


def _steps(kernel: KernelDef) -> bool:
    """True for a kernel with a loop over steps, one at a time; a loop over tiles has a stride."""
    loops = [n for n in ast.walk(kernel.node) if isinstance(n, ast.For) and isinstance(n.iter, ast.Call)]
    return any(len(loop.iter.args) < 3 for loop in loops if isinstance(loop.iter, ast.Call))


def _tested(kernel: KernelDef) -> set[str]:
    """Constexpr parameters that branches test."""
    return {
        n.id
        for node in ast.walk(kernel.node)
        if isinstance(node, ast.If)
        for n in ast.walk(node.test)
        if isinstance(n, ast.Name) and n.id in kernel.constexprs
    }


def _outputs(view: KernelView) -> set[str]:
    """Parameters that the kernel writes through."""
    numbers = {
        a.key
        for x in view.facts.stores
        if x.pointer.poly is not None
        for m, _ in x.pointer.poly.terms
        if len(m) > 1
        for a in m
    }
    return {b for a in view.facts.stores for b in a.pointer.bases} - numbers


def _statements(kernel: KernelDef) -> set[str]:
    """Simple statements as text."""
    return {
        ast.unparse(s)
        for s in ast.walk(kernel.node)
        if isinstance(s, ast.Assign | ast.AugAssign | ast.Expr)
        and not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    }


DETECTOR = Detector("specialise_clone", _uses)
