"""An activation of a result by a compile-time flag: `if SILU: y = y * sigmoid(y)`, `if ACT == 1: acc = relu(acc)`."""

from __future__ import annotations

import ast

from ..analysis.syntax import is_constexpr_test
from .trace import sources_of
from .view import KernelView

_CURVES = frozenset("sigmoid tanh erf silu gelu softplus exp exp2 maximum where".split())
"""An activation has one of them; sums, roots and plain arithmetic make norms and scales."""
_NONE = frozenset("load store sum max min dot dot_scaled cumsum".split())


def flagged_activation(
    view: KernelView, back: frozenset[ast.AST], results: set[ast.Call], last: int
) -> ast.Assign | ast.AugAssign | None:
    """The statement under a flag that makes a result an activation of itself, outside loops; None where there is none.

    A result is a product or a sum, or what an unrolled loop over taps has added up.
    """
    for branch in view.own.nodes:
        if (
            not isinstance(branch, ast.If)
            or branch.lineno < last
            or view.flow.loops.get(branch)
            or not is_constexpr_test(branch.test, view.kernel.constexprs)
        ):
            continue
        for step in branch.body:
            if isinstance(step, ast.Assign) and len(step.targets) == 1 and isinstance(step.targets[0], ast.Name):
                name = step.targets[0].id
                itself = any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(step.value))
            elif (
                isinstance(step, ast.AugAssign) and isinstance(step.op, ast.Mult) and isinstance(step.target, ast.Name)
            ):
                name, itself = step.target.id, True
            else:
                continue
            if step.value not in back or not itself or not _curves(view, step.value, name):
                continue
            if results & sources_of(view, step.value) or _is_added_up(view, name, branch):
                return step
    return None


def _curves(view: KernelView, value: ast.expr, name: str) -> bool:
    """Some call in the expression bends the name: by an operation, or by a helper that has one and reads no memory."""
    for call in (n for n in ast.walk(value) if isinstance(n, ast.Call)):
        locals_ = {n.id for a in call.args for n in ast.walk(a) if isinstance(n, ast.Name) and n in view.flow.reaching}
        if locals_ - set(view.kernel.parameter_names) != {name}:
            continue  # a maximum over something else, an exponential under a maximum
        if view.operation(call) in _CURVES:
            if view.operation(call) != "where" or _is_by_sign(call):
                return True
            continue
        for body in view.bodies[1:]:
            if isinstance(call.func, ast.Name) and body.kernel.name == call.func.id:
                inside = {operation for _, operation in body.calls}
                if inside & _CURVES and not inside & _NONE:
                    return True
    return False


def _is_by_sign(call: ast.Call) -> bool:
    """`where(y >= 0, y, y * slope)`; an equality keeps an infinity out."""
    test = call.args[0] if call.args else None
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Gt | ast.GtE | ast.Lt | ast.LtE)


def _is_added_up(view: KernelView, name: str, branch: ast.If) -> bool:
    """`acc += x * w` in a loop before the branch."""
    return any(
        isinstance(step, ast.AugAssign)
        and isinstance(step.op, ast.Add)
        and isinstance(step.target, ast.Name)
        and step.target.id == name
        and step.lineno < branch.lineno
        and bool(view.flow.loops.get(step))
        and any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult) for n in sources_of(view, step.value))
        for step in view.own.nodes
    )
