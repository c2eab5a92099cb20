"""relax_specialization. Used: do_not_specialize. Symptom: a batch size as a constexpr, which costs a compilation each,
in a kernel that relaxes nothing yet."""

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
            if argument is not None and _is_batch(view, argument):
                found.append(
                    Seen(parameter.node.lineno, f"compiles anew for every batch size: {parameter.name} is a constexpr")
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
        if any(isinstance(n, ast.Name) and n.id == name for a in node.args for n in ast.walk(a)):
            return True
    return False


def _is_batch(view: KernelView, argument: ast.expr) -> bool:
    """A name unpacked from a shape at the first place: `B, T, H, K = q.shape`."""
    if not isinstance(argument, ast.Name):
        return False
    bindings = reaching(view.module.source, argument.id, argument)
    if len(bindings) != 1 or bindings[0].kind != "unpack" or not isinstance(bindings[0].statement, ast.Assign):
        return False
    names, value = bindings[0].statement.targets[0], bindings[0].statement.value
    if not isinstance(names, ast.Tuple) or len(names.elts) < _RANK or names.elts[0] is not bindings[0].node:
        return False
    starred = isinstance(value, ast.Tuple) and value.elts and isinstance(value.elts[0], ast.Starred)
    shape = value.elts[0].value if starred else value  # type: ignore[attr-defined]
    return isinstance(shape, ast.Attribute) and shape.attr == "shape"


DETECTOR = Detector("relax_specialization", _uses, _opportunities)
