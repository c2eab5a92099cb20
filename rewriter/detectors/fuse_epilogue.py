"""fuse_epilogue. Used: after its last product or reduction a kernel gates, activates or normalises the result before it
stores it.

A normalising kernel's own norm is its work, not an epilogue; a gate on top of it is one, and so is a norm of what an
earlier product or weighted sum gave.
"""

from __future__ import annotations

import ast

from .base import Detector, Seen
from .flagged_activation import flagged_activation
from .trace import sources_of, stores
from .view import KernelView

_GATES = ("sigmoid", "tanh", "erf", "silu", "gelu", "softplus")


def _uses(view: KernelView) -> list[Seen]:
    results = set(view.own.called("dot", "dot_scaled", "sum"))
    found = []
    last = max((n.lineno for n in results), default=0)
    for _, value in stores(view):
        if not view.is_block(value):
            continue
        back = sources_of(view, value)
        own = flagged_activation(view, back, results, last)
        if own is not None:
            found.append(Seen(own.lineno, "activates the result before it is stored, where a flag asks for it"))
        made = results & back
        if not made:
            continue
        gate = _gate(view, back, results, last) or _activation(view, back, results, last)
        if gate is not None:
            found.append(Seen(gate.lineno, "gates or activates the result before it is stored"))
        norm = _norm(view, back, results) or _late_norm(view, back, results)
        if norm is not None:
            found.append(Seen(norm.lineno, "normalises the result before it is stored"))
    return found


def _activation(view: KernelView, back: frozenset[ast.AST], results: set[ast.Call], last: int) -> ast.expr | None:
    """A product's result with nothing below zero let through, after the last result: `maximum(y, 0)`,
    `where(y > 0, y, 0)`."""
    dots = {n for n in results & back if _is_dot(view, n)}
    for node in sorted((n for n in back if isinstance(n, ast.Call) and n.lineno >= last), key=lambda n: n.lineno):
        name = view.operation(node)
        parts = node.args if name == "maximum" else node.args[1:] if name == "where" else []
        tested = node.args[0] if name == "where" and node.args else None
        zero = any(isinstance(p, ast.Constant) and p.value == 0 for p in parts)
        if view.flow.loops_around(node) or not (tested is None or _is_above_zero(tested, parts)):
            continue
        if zero and any(dots & sources_of(view, p) for p in parts):
            return node
    return None


def _is_above_zero(test: ast.expr, parts: list[ast.expr]) -> bool:
    """`y > 0` for one of the parts, so that no other number decides: `where(l > 0, y / l, 0)` avoids a division."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.Gt | ast.GtE)
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value == 0
        and any(ast.dump(test.left) == ast.dump(part) for part in parts)
    )


def _gate(
    view: KernelView, back: frozenset[ast.AST], results: set[ast.Call], last: int
) -> ast.BinOp | ast.AugAssign | None:
    """A product of something that a result went into and of a gate that no result went into, after the last result."""
    later = {n for r in results & back for n in sources_of(view, *r.args)}
    products = [n for n in back - later if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult) and n.lineno >= last]
    for node in sorted(products, key=lambda n: (n.lineno, n.col_offset)):
        for gate, main in ((node.left, node.right), (node.right, node.left)):
            inner = sources_of(view, gate)
            gates = {n for n in inner if isinstance(n, ast.Call) and _is_gate(view, n)}
            if gates and not gates & later and not results & inner and results & sources_of(view, main):
                return node
    for step in view.own.nodes:
        if isinstance(step, ast.AugAssign) and isinstance(step.op, ast.Mult) and step.value in back:
            inner = sources_of(view, step.value)
            gates = {n for n in inner if isinstance(n, ast.Call) and _is_gate(view, n)}
            if step.lineno >= last and gates and not gates & later and not results & inner:
                return step
    return None


def _is_gate(view: KernelView, node: ast.Call) -> bool:
    if view.operation(node) in _GATES:
        return True
    return any(
        isinstance(node.func, ast.Name)
        and body.kernel.name == node.func.id
        and bool(body.called(*_GATES))
        and not body.called("load", "store", "sum", "dot")
        for body in view.bodies[1:]
    )


def _norm(view: KernelView, back: frozenset[ast.AST], results: set[ast.Call]) -> ast.Call | None:
    """A root of a sum of squares of something that a product or a loop's sum gave."""
    roots = [n for n in back if isinstance(n, ast.Call) and view.operation(n) in ("rsqrt", "sqrt")]
    for root in sorted(roots, key=lambda n: (n.lineno, n.col_offset)):
        if not root.args or view.flow.loops_around(root):
            continue
        if any(root in sources_of(view, *r.args) and (_is_dot(view, r) or view.flow.loops_around(r)) for r in results):
            continue  # goes into another product or a loop's sum: it prepares them
        inner = sources_of(view, root.args[0])
        sums = [n for n in inner if isinstance(n, ast.Call) and view.operation(n) == "sum" and _squares(n)]
        for outer in sums:
            before = sources_of(view, *outer.args) & results - set(sums)
            if any(view.operation(n) == "dot" or view.flow.loops_around(n) for n in before if isinstance(n, ast.expr)):
                return root
    return None


def _late_norm(view: KernelView, back: frozenset[ast.AST], results: set[ast.Call]) -> ast.BinOp | None:
    """A product's result times the root of a mean square of what went into it: the norm of the input, moved behind."""
    for node in sorted((n for n in back if isinstance(n, ast.BinOp)), key=lambda n: (n.lineno, n.col_offset)):
        if not isinstance(node.op, ast.Mult | ast.Div) or view.flow.loops_around(node):
            continue
        for main, scale in ((node.left, node.right), (node.right, node.left)):
            behind = sources_of(view, scale)
            roots = [n for n in behind if isinstance(n, ast.Call) and view.operation(n) in ("rsqrt", "sqrt")]
            squares = [n for n in behind if isinstance(n, ast.Call) and n in results and _squares(n)]
            if not roots or not squares or any(isinstance(n, ast.Call) and _is_dot(view, n) for n in behind):
                continue
            rounds = {loop for s in squares for loop in view.flow.loops_around(s)}
            dots = [r for r in results & sources_of(view, main) if _is_dot(view, r)]
            if any(not rounds.isdisjoint(view.flow.loops_around(r)) for r in dots):
                return node
    return None


def _is_dot(view: KernelView, node: ast.Call) -> bool:
    return view.operation(node) in ("dot", "dot_scaled")


def _squares(node: ast.Call) -> bool:
    """`sum(x * x)`, behind a selection or not."""
    return any(
        isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult) and ast.dump(n.left) == ast.dump(n.right)
        for a in node.args
        for n in ast.walk(a)
    ) or any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow) for a in node.args for n in ast.walk(a))


DETECTOR = Detector("fuse_epilogue", _uses)
