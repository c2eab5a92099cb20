"""fuse_prologue. Used: an input is gated or activated after it is loaded, where a compile-time flag asks for it.

The flag tells a fused producer from the kernel's own arithmetic: without it, the input comes ready from another kernel.
"""

from __future__ import annotations

import ast

from ..analysis.syntax import is_constexpr_test
from .base import Detector, Seen
from .trace import sources_of
from .view import KernelView

_ACTIVATIONS = ("sigmoid", "tanh", "erf", "softplus", "silu", "gelu", "fast_tanhf")
_EXPONENTIALS, _LOGARITHMS = ("exp", "exp2", "fast_expf"), ("log", "log2", "log1p", "fast_logf", "fast_log2f")
"""Together they make a softplus; either alone makes a decay."""
_REDUCTIONS = ("sum", "max", "dot", "cumsum", "dot_scaled", "associative_scan")


def _uses(view: KernelView) -> list[Seen]:
    found = []
    reductions = set(view.own.called(*_REDUCTIONS))
    for node in view.own.nodes:
        if not isinstance(node, ast.If) or not is_constexpr_test(node.test, view.kernel.constexprs):
            continue
        for name, value in _activated(view, node.body):
            back = sources_of(view, value)
            if reductions & back or not _loads(view, back) or not _is_raw_elsewhere(view, node, name, value):
                continue
            if _feeds(view, node, name, reductions):
                found.append(
                    Seen(node.lineno, f"activates the input in {name} after loading it, where a flag asks for it")
                )
    return found


def _activated(view: KernelView, body: list[ast.stmt]) -> list[tuple[str, ast.expr]]:
    """Names that a branch, branches inside it included, sets to an activation of something."""
    found = []
    for statement in (s for outer in body for s in ast.walk(outer)):
        if (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
        ):
            calls = [n for n in ast.walk(statement.value) if isinstance(n, ast.Call)]
            names = {view.operation(n) for n in calls}
            if any(_is_activation(view, n) for n in calls) or (names & set(_EXPONENTIALS) and names & set(_LOGARITHMS)):
                found.append((statement.targets[0].id, statement.value))
    return found


def _is_activation(view: KernelView, node: ast.Call) -> bool:
    if view.operation(node) in _ACTIVATIONS:
        return True
    for body in view.bodies[1:]:
        if isinstance(node.func, ast.Name) and body.kernel.name == node.func.id:
            softplus = bool(body.called(*_EXPONENTIALS) and body.called(*_LOGARITHMS))
            return (softplus or bool(body.called(*_ACTIVATIONS))) and not body.called(*_REDUCTIONS, "load", "store")
    return False


def _loads(view: KernelView, back: frozenset[ast.AST]) -> bool:
    return any(isinstance(n, ast.Call) and view.operation(n) == "load" for n in back)


def _is_raw_elsewhere(view: KernelView, branch: ast.If, name: str, value: ast.expr) -> bool:
    """Without the flag the name holds the input as it is: set to a plain name in the other arm, or set before."""
    for statement in (s for outer in branch.orelse for s in ast.walk(outer)):
        if isinstance(statement, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == name for t in statement.targets
        ):
            return isinstance(statement.value, ast.Name) or _is_load(view, statement.value)
    if branch.orelse:
        return False
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value))


def _is_load(view: KernelView, node: ast.expr) -> bool:
    from .trace import unwrapped

    return view.operation(unwrapped(view.own, node)) == "load"


def _feeds(view: KernelView, branch: ast.If, name: str, reductions: set[ast.Call]) -> bool:
    """The activated value goes into the kernel's main work, and not straight into a store."""
    after = [n for n in reductions if n.lineno > branch.lineno]
    inner = {
        d for d in view.flow.definitions if d.name == name and d.kind in ("join", "assign") and _within(branch, d.node)
    }
    return any(
        isinstance(n, ast.Name) and view.flow.reaching.get(n) in inner
        for node in after
        for n in sources_of(view, *node.args)
    )


def _within(branch: ast.If, node: ast.AST) -> bool:
    return any(n is node for n in ast.walk(branch))


DETECTOR = Detector("fuse_prologue", _uses)
