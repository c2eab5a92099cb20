"""relax_specialization. Used: do_not_specialize. Symptom: a batch size or a length as a constexpr, which costs a
compilation each, in a kernel that relaxes nothing yet."""

from __future__ import annotations

import ast

from ..kernel.scope import reaching
from .base import Detector, Seen
from .view import KernelView

_KEYWORDS = ("do_not_specialize", "do_not_specialize_on_alignment")
_RANK = 3
"""Dimensions of an activation at least; what has fewer may be a weight."""


def _uses(view: KernelView) -> list[Seen]:
    jit = view.kernel.jit
    if not isinstance(jit, ast.Call):
        return []
    return [Seen(jit.lineno, f"names {k.arg}") for k in jit.keywords if k.arg in _KEYWORDS and not _is_empty(k.value)]


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple) and not node.elts


def _opportunities(view: KernelView) -> list[Seen]:
    if _uses(view):
        return []
    found = []
    for parameter in view.kernel.parameters:
        if not parameter.is_constexpr or _shapes_a_block(view, parameter.name):
            continue
        for launch in view.launches:
            argument = launch.arguments.get(parameter.name)
            if argument is not None and (_is_batch(view, argument) or _is_length(view, parameter.name, argument)):
                found.append(
                    Seen(parameter.node.lineno, f"compiles anew for every value: {parameter.name} is a constexpr")
                )
    return found


def _shapes_a_block(view: KernelView, name: str) -> bool:
    """True where a block has that size: such a parameter must stay a constexpr."""
    for node, operation in view.own.calls:
        if operation not in (
            "arange",
            "zeros",
            "full",
            "static_range",
            "reshape",
            "view",
            "broadcast_to",
            "make_block_ptr",
        ):
            continue
        sizes = node.args[4:5] if operation == "make_block_ptr" else node.args
        sizes = [*sizes, *(k.value for k in node.keywords if k.arg in ("shape", "block_shape") and len(sizes) < 1)]
        if any(isinstance(n, ast.Name) and n.id == name for a in sizes for n in ast.walk(a)):
            return True
    return False


def _is_batch(view: KernelView, argument: ast.expr) -> bool:
    """A name unpacked from a shape at the first place: `B, T, H, K = q.shape`."""
    place, rank = _place_in_shape(view, argument)
    return place == 0 and rank >= _RANK


def _is_length(view: KernelView, name: str, argument: ast.expr) -> bool:
    """An inner dimension of an activation that ends a loop of the kernel and takes no index apart, as heads do:
    `B, H, T, D = q.shape`."""
    place, rank = _place_in_shape(view, argument)
    if place not in (1, 2) or rank <= _RANK or place == rank - 1:
        return False
    ends = any(
        isinstance(loop, ast.For)
        and isinstance(loop.iter, ast.Call)
        and any(isinstance(a, ast.Name) and a.id == name for a in loop.iter.args[:2])
        for loop in view.loops
    )
    return ends and not any(
        isinstance(n, ast.BinOp)
        and isinstance(n.op, ast.Mod | ast.FloorDiv)
        and isinstance(n.right, ast.Name)
        and n.right.id == name
        for n in view.own.nodes
    )


def _place_in_shape(view: KernelView, argument: ast.expr) -> tuple[int | None, int]:
    """At which place a name is unpacked from a shape, and into how many names."""
    nowhere = (None, 0)
    if not isinstance(argument, ast.Name):
        return nowhere
    bindings = reaching(view.module.source, argument.id, argument)
    if len(bindings) != 1 or bindings[0].kind != "unpack" or not isinstance(bindings[0].statement, ast.Assign):
        return nowhere
    names, value = bindings[0].statement.targets[0], bindings[0].statement.value
    if not isinstance(names, ast.Tuple):
        return nowhere
    starred = isinstance(value, ast.Tuple) and value.elts and isinstance(value.elts[0], ast.Starred)
    shape = value.elts[0].value if starred else value  # type: ignore[attr-defined]
    if not (isinstance(shape, ast.Attribute) and shape.attr == "shape"):
        return nowhere
    place = next((i for i, name in enumerate(names.elts) if name is bindings[0].node), None)
    return place, len(names.elts)


DETECTOR = Detector("relax_specialization", _uses, _opportunities)
