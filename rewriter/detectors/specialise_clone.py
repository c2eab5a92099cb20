"""specialise_clone. Used: a kernel that shares its statements with a more general kernel beside it, writes the same
outputs, and leaves out that one's loop and some of its compile-time flags: the case of one step. Or one that is that
kernel with a flag's branches and their parameters left out: the case without a bias, a gate or a mask."""

from __future__ import annotations

import ast
from functools import lru_cache

from ..kernel.definition import KernelDef
from .base import Detector, Seen
from .view import KernelView

_SHARED = 0.25
"""Part of the smaller kernel's statements that the general kernel must hold too, word for word."""
_NEARLY_ALL = 0.8
"""Part of the statements of a kernel that is another's case by its flags alone."""
_FLAGS = 3
"""Compile-time flags that the general kernel tests and the clone does not, at least."""
_LEAST = 8
"""Statements a kernel must have for that part to mean anything."""


def _uses(view: KernelView) -> list[Seen]:
    others = [k for k in view.module.kernels if k is not view.kernel and k.is_entry] if view.kernel.is_entry else []
    for other in others:
        if _leaves_out(view, other):
            return [Seen(view.kernel.node.lineno, f"is {other.name} without some of its flags and parameters")]
    for other in others if not _loops(view.kernel) else ():
        if len(_tested(other)) < len(_tested(view.kernel)) + _FLAGS or not _steps(other):
            continue
        if _shares(view, other, _SHARED) and _outputs(view) <= _outputs(view.of(other)):
            return [Seen(view.kernel.node.lineno, f"is {other.name} for one step, without its loop and its flags")]
    return []


def _shares(view: KernelView, other: KernelDef, part: float) -> bool:
    mine = _statements(view.kernel)
    return len(mine) >= _LEAST and len(mine & _statements(other)) >= part * len(mine)


def _leaves_out(view: KernelView, other: KernelDef) -> bool:
    """A part of the other's parameters and of the flags that it tests, nearly all statements word for word, and one
    function that launches the one or the other."""
    return (
        set(view.kernel.parameter_names) < set(other.parameter_names)
        and _tested(view.kernel) < _tested(other)
        and _shares(view, other, _NEARLY_ALL)
        and bool({x.function for x in view.launches if x.function} & {x.function for x in view.of(other).launches})
        and _outputs(view) <= _outputs(view.of(other))
    )


def _loops(kernel: KernelDef) -> int:
    return sum(isinstance(n, ast.For | ast.While) for n in ast.walk(kernel.node))


def _steps(kernel: KernelDef) -> bool:
    """True for a kernel with a loop over steps, one at a time; a loop over tiles has a stride."""
    loops = [n for n in ast.walk(kernel.node) if isinstance(n, ast.For) and isinstance(n.iter, ast.Call)]
    return any(len(loop.iter.args) < 3 for loop in loops if isinstance(loop.iter, ast.Call))


@lru_cache(maxsize=256)
def _tested(kernel: KernelDef) -> frozenset[str]:
    """Constexpr parameters that branches test."""
    return frozenset(
        n.id
        for node in ast.walk(kernel.node)
        if isinstance(node, ast.If)
        for n in ast.walk(node.test)
        if isinstance(n, ast.Name) and n.id in kernel.constexprs
    )


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


@lru_cache(maxsize=256)
def _statements(kernel: KernelDef) -> frozenset[str]:
    """Simple statements as text."""
    return frozenset(
        ast.unparse(s)
        for s in ast.walk(kernel.node)
        if isinstance(s, ast.Assign | ast.AugAssign | ast.Expr)
        and not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    )


DETECTOR = Detector("specialise_clone", _uses)
