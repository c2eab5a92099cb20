"""alignment_hints. Used: multiple_of, max_contiguous. Symptom: an address the compiler cannot see through: rows or
columns of a product wrapped with `%`, or a number cast to a pointer, in a kernel without a hint.

A `%` that takes coordinates out of an index, or repeats a short vector, makes addresses that really are not contiguous.
"""

from __future__ import annotations

import ast

from ..analysis.syntax import is_constexpr_test
from .base import Detector, Seen
from .trace import sources_of, unwrapped
from .view import KernelView

_HINTS = ("multiple_of", "max_contiguous")


def _uses(view: KernelView) -> list[Seen]:
    return [
        Seen(body.at(call), f"gives the compiler tl.{name}")
        for body in view.bodies
        for call, name in body.calls
        if name in _HINTS
    ]


def _opportunities(view: KernelView) -> list[Seen]:
    if _uses(view):
        return []
    found = []
    for access in view.facts.accesses:
        if access.path or not access.pointer.dims or not access.node.args:
            continue
        for node in sources_of(view, access.node.args[0]):
            if _wraps(view, node):
                found.append(
                    Seen(
                        int(getattr(node, "lineno", access.line)),
                        "wraps offsets with `%` and gives no hint of what stays contiguous",
                    )
                )
            elif _cast(view, node) or (_selected(view, node) and node in _terms(view, access.node.args[0])):
                found.append(
                    Seen(
                        int(getattr(node, "lineno", access.line)),
                        "takes a pointer out of memory or a selection and gives no hint of its alignment",
                    )
                )
    return found


def _terms(view: KernelView, node: ast.expr) -> set[ast.expr]:
    """What is added up to an address: the pointer is among it, and what is multiplied into an offset is not."""
    found: set[ast.expr] = set()
    pending = [node]
    while pending:
        part = unwrapped(view.own, pending.pop())
        if part in found:
            continue
        found.add(part)
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add | ast.Sub):
            pending += [part.left, part.right]
        elif isinstance(part, ast.Name) and (made := view.flow.reaching.get(part)) is not None:
            pending += [d.value for d in (made, *made.sources) if isinstance(d.value, ast.expr)]
    return found


def _wraps(view: KernelView, node: ast.AST) -> bool:
    """`(tile + arange) % N`: a block of offsets, consecutive but for the wrap."""
    if not (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and view.is_block(node.left)
    ) or not view.own.called("dot"):
        return False
    if any(
        isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv) and ast.dump(n.left) == ast.dump(node.left)
        for n in view.own.nodes
    ):
        return False
    right = view.value(node.right)
    if right is None or right.dims != () or isinstance(node.right, ast.Constant):
        return False
    value = view.value(node.left)
    return value is not None and value.poly is not None and any(a.kind in ("lane", "range") for a in value.poly.atoms)


def _selected(view: KernelView, node: ast.AST) -> bool:
    """One of two pointers, chosen at run time."""
    if isinstance(node, ast.IfExp):
        test, arms = node.test, [node.body, node.orelse]
    elif isinstance(node, ast.Call) and view.operation(node) == "where" and len(node.args) == 3:
        test, arms = node.args[0], node.args[1:]
    else:
        return False
    if is_constexpr_test(test, view.kernel.constexprs):
        return False
    bases = [value.bases if (value := view.value(arm)) is not None else frozenset() for arm in arms]
    return all(bases) and bases[0] != bases[1]


def _cast(view: KernelView, node: ast.AST) -> bool:
    """A number cast to a pointer."""
    return (
        isinstance(node, ast.Call)
        and view.operation(node) in ("to", "cast")
        and any(isinstance(n, ast.Call) and view.operation(n) == "pointer_type" for a in node.args for n in ast.walk(a))
    )


DETECTOR = Detector("alignment_hints", _uses, _opportunities)
