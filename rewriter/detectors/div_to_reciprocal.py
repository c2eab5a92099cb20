"""div_to_reciprocal. Used: a reciprocal square root. Symptom: a division by a square root, in place or by name."""

from __future__ import annotations

import ast

from .base import Detector, Seen
from .trace import unwrapped
from .view import Body, KernelView


def _uses(view: KernelView) -> list[Seen]:
    return [Seen(b.at(n), "takes a reciprocal square root") for b in view.bodies for n in b.called("rsqrt", "rsqrt_rn")]


def _opportunities(view: KernelView) -> list[Seen]:
    return [
        Seen(body.at(node), "divides by a square root")
        for body in view.bodies
        for node, divisor in _divisions(body)
        if _is_root(body, divisor)
    ]


def _divisions(body: Body) -> list[tuple[ast.AST, ast.expr]]:
    found: list[tuple[ast.AST, ast.expr]] = []
    for node in body.nodes:
        match node:
            case ast.BinOp(op=ast.Div(), right=divisor):
                found.append((node, divisor))
            case ast.AugAssign(op=ast.Div(), value=divisor):
                found.append((node, divisor))
    return found


def _is_root(body: Body, divisor: ast.expr) -> bool:
    inner = unwrapped(body, divisor)
    return any(inner is n for n in body.called("sqrt", "sqrt_rn"))


DETECTOR = Detector("div_to_reciprocal", _uses, _opportunities)
