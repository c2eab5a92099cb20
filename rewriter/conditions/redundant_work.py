"""redundant_work: something worth doing once repeats in every tile."""

from __future__ import annotations

from skel.store.schema import Refusal

from ..analysis.axes import Axis
from ..analysis.events import Work
from ..analysis.facts import Facts
from ..analysis.stores import is_guard
from ..reasons import refusal


def redundant_work(facts: Facts, axis: Axis) -> tuple[Work, ...]:
    """Reductions, scans, dots and transcendentals over blocks that no part of `axis` changes.

    Work on single scalars does not count (it costs one instruction), nor does work already done in the first tile
    only.
    """
    return tuple(w for w in facts.work if _repeats(w, axis) and _is_block(w))


def _repeats(work: Work, axis: Axis) -> bool:
    if work.value.depends_on(axis) or work.operand.depends_on(axis):
        return False
    return not any(c.value.depends_on(axis) or is_guard(c.value, axis) for c in work.conditions)


def _is_block(work: Work) -> bool:
    if work.operation == "divide":
        return work.value.is_block
    return work.operand.is_block or work.value.is_block or work.operation == "dot"


def check_redundant_work(facts: Facts, axis: Axis, name: str) -> list[Refusal]:
    """Refuses `no_redundant_work`."""
    if redundant_work(facts, axis):
        return []
    return [refusal("no_redundant_work", facts.kernel.node, axis=name)]
