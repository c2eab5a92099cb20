"""defer_state_load. Symptom: an accumulator of zeros, to which a load is added before the loop that carries it.

The load then fixes the accumulator's layout for the whole loop. Unrolled loops carry nothing.
"""

from __future__ import annotations

import ast

from ..analysis.flow import Definition
from .base import Detector, Seen
from .trace import unwrapped
from .view import KernelView


def _opportunities(view: KernelView) -> list[Seen]:
    found = []
    for made in view.flow.definitions:
        if _adds_a_load(view, made) and _starts_as_zeros(view, made.sources, set()) and _is_carried(view, made, set()):
            found.append(
                Seen(made.line, f"adds a load to the zeros in {made.name} just before the loop that carries it")
            )
    return found


def _adds_a_load(view: KernelView, made: Definition) -> bool:
    if made.kind != "augmented" or made.value is None or not isinstance(made.statement, ast.AugAssign):
        return False
    loaded = unwrapped(view.own, made.value)
    return (
        isinstance(made.statement.op, ast.Add)
        and isinstance(loaded, ast.Call)
        and view.operation(loaded) == "load"
        and view.is_block(made.value)
    )


def _starts_as_zeros(view: KernelView, sources: list[Definition], seen: set[Definition]) -> bool:
    for made in sources:
        if made in seen:
            continue
        seen.add(made)
        if made.kind == "join":
            if not _starts_as_zeros(view, made.sources, seen):
                return False
        elif (
            made.kind != "assign"
            or made.value is None
            or view.operation(made.value) not in ("zeros", "zeros_like", "full")
        ):
            return False
    return bool(sources)


def _is_carried(view: KernelView, made: Definition, seen: set[Definition]) -> bool:
    for later in made.feeds:
        if later in seen:
            continue
        seen.add(later)
        if later.kind == "carry" and isinstance(later.node, ast.For | ast.While) and later.node not in made.loops:
            if not view.is_unrolled(later.node):
                return True
        elif later.kind in ("join", "augmented") and _is_carried(view, later, seen):
            return True
    return False


DETECTOR = Detector("defer_state_load", opportunities=_opportunities)
