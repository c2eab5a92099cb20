"""cache_hints. Used: an eviction policy or cache modifier. Symptom: a tensor read in two passes, one loop
after another over the same range."""

from __future__ import annotations

import ast

from .base import Detector, Seen
from .trace import sources_of
from .view import KernelView

_HINTS = ("eviction_policy", "cache_modifier")


def _uses(view: KernelView) -> list[Seen]:
    return [
        Seen(body.at(call), f"names {keyword.arg}")
        for body in view.bodies
        for call in body.called("load", "store", "atomic_add")
        for keyword in call.keywords
        if keyword.arg in _HINTS and not _is_empty(keyword.value)
    ]


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _opportunities(view: KernelView) -> list[Seen]:
    if _uses(view):
        return []
    passes = [
        (loop, _walked(view, loop)) for loop in view.loops if isinstance(loop, ast.For) and not view.is_unrolled(loop)
    ]
    found = []
    for i, (first, before) in enumerate(passes):
        for second, after in passes[i + 1 :]:
            if not _same_block(view, first, second) or ast.dump(first.iter) != ast.dump(second.iter):
                continue
            for base in sorted(before.keys() & after.keys()):
                found.append(Seen(after[base], f"reads {base} again, which the loop at line {first.lineno} has read"))
    return found


def _same_block(view: KernelView, first: ast.stmt, second: ast.stmt) -> bool:
    """True where one surely follows the other: statements of one block."""
    parent = view.flow.parents.get(first)
    blocks = [getattr(parent, field, None) for field in ("body", "orelse")]
    return any(isinstance(b, list) and first in b and second in b for b in blocks)


def _walked(view: KernelView, loop: ast.For) -> dict[str, int]:
    """Parameters that a loop reads block by block along its own variable, with the line of the first load."""
    inside = set(ast.walk(loop))
    targets = {n for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    found: dict[str, int] = {}
    for access in view.facts.loads:
        if access.node not in inside or access.path or len(access.pointer.bases) != 1 or not access.pointer.dims:
            continue
        if not access.node.args:
            continue
        names = {n for n in sources_of(view, access.node.args[0]) if isinstance(n, ast.Name)}
        if any(
            (made := view.flow.reaching.get(n)) is not None and made.kind == "loop" and made.node in targets
            for n in names
        ):
            found.setdefault(next(iter(access.pointer.bases)), access.line)
    return found


DETECTOR = Detector("cache_hints", _uses, _opportunities)
