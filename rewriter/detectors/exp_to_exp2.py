"""exp_to_exp2. Used: exponentials in base two. Symptom: natural exponentials of scores in a loop.

A power of two of a number that was rounded to a whole one, as scales of a quantisation are, is no exponential.

A score is what a dot or a sum over a block gave, or a loaded block times a scale under a maximum of it; the factor
log2(e) has a place to go there, the scale. Exponents that are loaded, such as gates, have none in the kernel: they are
not listed.
"""

from __future__ import annotations

import ast

from .base import Detector, Seen
from .trace import sources_in, sources_of
from .view import Body, KernelView

_NATURAL = ("exp", "fast_expf")
_ROUNDING = ("ceil", "floor", "rint", "nearbyint", "round")


def _uses(view: KernelView) -> list[Seen]:
    return [
        Seen(b.at(n), "takes exponentials in base two")
        for b in view.bodies
        for n in b.called("exp2", "fast_exp2f")
        if not _is_whole(b, n)
    ]


def _is_whole(body: Body, node: ast.Call) -> bool:
    """True where the exponent was rounded to whole numbers."""
    return bool(node.args) and not sources_in(body, node.args[0]).isdisjoint(body.called(*_ROUNDING))


def _opportunities(view: KernelView) -> list[Seen]:
    scores = set(view.own.called("dot", "dot_scaled", "sum"))
    found = []
    for node in view.own.called(*_NATURAL):
        if not node.args or not view.flow.loops_around(node):
            continue
        back = sources_of(view, node.args[0])
        if scores & back or _is_scaled_score(view, back):
            found.append(Seen(node.lineno, "takes natural exponentials of scores inside a loop"))
    return found


def _is_scaled_score(view: KernelView, back: frozenset[ast.AST]) -> bool:
    """`exp(x * scale - m)`, where m is a maximum of such products: the maximum is one of loaded, scaled numbers."""
    maxima = [n for n in back if isinstance(n, ast.Call) and view.operation(n) == "max" and n.args]
    return any(
        isinstance(n, ast.BinOp)
        and isinstance(n.op, ast.Mult)
        and any(
            view.is_block(block) and _is_scalar(view, scale) for block, scale in ((n.left, n.right), (n.right, n.left))
        )
        for m in maxima
        for n in sources_of(view, m.args[0]) & back
    )


def _is_scalar(view: KernelView, node: ast.expr) -> bool:
    value = view.value(node)
    return value is not None and value.dims == ()


DETECTOR = Detector("exp_to_exp2", _uses, _opportunities)
