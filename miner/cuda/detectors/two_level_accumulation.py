"""two_level_accumulation. Used: in one loop, an FP8 matrix product goes into one accumulator, and that accumulator,
scaled, is added to another one in FP32.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skel.rewriter.detectors.base import Seen

from ..expressions import declared, inside, line_of, operator_of
from ..functions import CudaFunction, below, text_of
from ..index import CudaDetector, Index

if TYPE_CHECKING:
    from tree_sitter import Node

_EIGHT_BITS = re.compile(r"fp8|e4m3|e5m2|float8|FP8", re.IGNORECASE)


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    if not _EIGHT_BITS.search(text_of(function.node)):
        return []
    products = [call for call in function.calls if "mma" in call.name.lower()]
    found = []
    for node in function.of("assignment_expression"):
        target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator_of(node) != "+=" or target is None or value is None or target.type != "subscript_expression":
            continue
        sums = declared(target)
        partials = _scaled(value) - {sums}
        loop = _loop_with(function, node, [c.node for c in products if partials & _given(c.arguments)])
        if loop is not None:
            found.append(Seen(line_of(node), f"adds scaled products of one round to {sums}"))
    return found[:1]


def _scaled(value: Node) -> set[str]:
    """Arrays of which an element is multiplied in the expression."""
    if not any(n.type == "binary_expression" and operator_of(n) == "*" for n in below(value)):
        return set()
    return {declared(n) for n in below(value) if n.type == "subscript_expression"}


def _given(arguments: tuple[Node, ...]) -> set[str]:
    return {text_of(n) for a in arguments for n in below(a) if n.type == "identifier"}


def _loop_with(function: CudaFunction, node: Node, products: list[Node]) -> Node | None:
    return next(
        (loop for loop in function.loops if inside(node, loop) and any(inside(p, loop) for p in products)), None
    )


DETECTOR = CudaDetector("two_level_accumulation", _uses)
