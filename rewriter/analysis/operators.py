"""What an expression does: its language function, whatever way it is spelled, and how its operands are placed."""

from __future__ import annotations

import ast

from ..kernel.definition import KernelDef, Module
from .callees import Callee, find_callee
from .flow import Flow
from .memory import argument

_EXTRA = {
    "extra.libdevice.fast_expf": "exp",
    "extra.cuda.libdevice.fast_expf": "exp",
    "extra.libdevice.exp": "exp",
    "extra.cuda.libdevice.exp": "exp",
}


def callee_of(module: Module, flow: Flow, node: ast.Call) -> Callee | None:
    """What a call reaches, unless a local name hides it."""
    if node not in flow.callees:
        root: ast.expr = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        flow.callees[node] = None if root in flow.reaching else find_callee(module, node.func)
    return flow.callees[node]


def operation(module: Module, flow: Flow, node: ast.expr) -> str | None:
    """Name of the language function a call applies: `sum` for `tl.sum(x, 0)`, for `x.sum(0)` and for a jit helper that
    only passes its arguments on to it. None for anything else."""
    if not isinstance(node, ast.Call):
        return None
    callee = callee_of(module, flow, node)
    if callee is None:
        return node.func.attr if _is_method(module, flow, node) and isinstance(node.func, ast.Attribute) else None
    names = {wrapped(m, k) for m, k in callee.definitions}
    if callee.triton is not None:
        names.add(_EXTRA.get(callee.triton, callee.triton))
    return names.pop() if len(names) == 1 else None


def is_wrapper(module: Module, flow: Flow, node: ast.Call) -> bool:
    """True where the call goes through a helper of that operation, which may cast on the way."""
    callee = callee_of(module, flow, node)
    return callee is not None and bool(callee.definitions or callee.triton in _EXTRA)


def is_method(module: Module, flow: Flow, node: ast.Call) -> bool:
    """True for `x.sum(0)`: the operand is what stands before the dot."""
    return callee_of(module, flow, node) is None and _is_method(module, flow, node)


def operand(module: Module, flow: Flow, node: ast.Call, position: int, name: str) -> ast.expr | None:
    """Argument of a language function by position or keyword; of a method call, 0 is what stands before the dot."""
    if is_method(module, flow, node):
        assert isinstance(node.func, ast.Attribute)
        return node.func.value if position == 0 else argument(node, position - 1, name)
    return argument(node, position, name)


def wrapped(module: Module, helper: KernelDef) -> str | None:
    """The language function that a helper of one argument returns of that argument, cast or not; None for others."""
    body = [s for s in helper.node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if len(helper.parameters) != 1 or len(body) != 1 or not isinstance(body[0], ast.Return):
        return None
    call = body[0].value
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
        return None
    inner = call.args[0]
    if (
        isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Attribute)
        and inner.func.attr == "to"
        and len(inner.args) == 1
        and module.names.triton_name(inner.args[0]) == "float32"
    ):
        inner = inner.func.value
    if not (isinstance(inner, ast.Name) and inner.id == helper.parameters[0].name):
        return None
    callee = find_callee(module, call.func)
    if callee is None:
        return None
    if callee.definitions:
        names = {wrapped(m, k) for m, k in callee.definitions if k is not helper}
        return names.pop() if len(names) == 1 and callee.triton is None else None
    return _EXTRA.get(callee.triton or "", callee.triton)


def expanded_dims(node: ast.expr) -> tuple[ast.expr, tuple[bool, ...]] | None:
    """`x[:, None]` as x and, per dimension of the result, whether it is new; None where it is no such view."""
    if not isinstance(node, ast.Subscript):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    new: list[bool] = []
    for part in parts:
        if isinstance(part, ast.Constant) and part.value is None:
            new.append(True)
        elif isinstance(part, ast.Slice) and part.lower is None and part.upper is None and part.step is None:
            new.append(False)
        else:
            return None
    return node.value, tuple(new)


def number(module: Module, flow: Flow, node: ast.expr) -> float | None:
    """The value of a literal, `float("inf")`, a negated one, or a module-level constant of that kind."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            negated = number(module, flow, inner)
            return None if negated is None else -negated
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return number(module, flow, inner)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as text)]):
            try:
                return float(text)
            except ValueError:
                return None
        case ast.Name(id=name) if node not in flow.reaching:
            values = module.names.constants.get(name, [])
            if len(values) != 1:
                return None
            inner = values[0]
            if (
                isinstance(inner, ast.Call)
                and module.names.triton_name(inner.func) == "constexpr"
                and len(inner.args) == 1
            ):
                inner = inner.args[0]
            return number(module, flow, inner) if not isinstance(inner, ast.Name) else None
        case ast.Name():
            made = flow.reaching[node]
            if made.kind == "assign" and made.value is not None and not isinstance(made.value, ast.Name):
                return number(module, flow, made.value)
            return None
        case _:
            return None


def _is_method(module: Module, flow: Flow, node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and module.names.dotted(node.func) is None
