"""What an opportunity may be worth, from the facts of its kernel alone: an order among them, never a promise.

Work that repeats in every tile counts by its share of all the kernel's work; a change to one place counts by the loops
around it, since what runs once a program is seldom worth a line.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..analysis.events import Work
from ..analysis.facts import Facts
from ..analysis.flow import flow_of
from ..conditions.redundant_work import redundant_work

WEIGHTS = {"dot": 16.0, "sum": 4.0, "max": 4.0, "min": 4.0, "cumsum": 6.0}
"""Cost of an operation on a block beside an exponential's 1: a reduction crosses lanes, a product is many of them."""
IN_LOOP = 4.0
"""Rounds that a loop is taken to have where nothing is known of it."""
REPEATED = frozenset({"fuse_vtiles", "loop_tiles", "hoist_producer"})
"""Skeletons that do once what every tile repeats."""
ONE_PLACE = 0.1
"""What a change outside of loops is put at."""


@dataclass(frozen=True, slots=True)
class Gain:
    """`score` from 0, nothing known to be gained, to 1; `why` in words."""

    score: float
    why: str


def expected_gain(skeleton: str, purpose_is_speed: bool, facts: Facts, line: int) -> Gain:
    """The gain of a skeleton at a line of the kernel."""
    if not purpose_is_speed:
        return Gain(0.0, "not a matter of speed")
    if skeleton in REPEATED:
        return _repeated(facts)
    depth = _loops_around(facts, line)
    where = "outside of loops" if depth == 0 else f"inside {depth} loop{'s' if depth > 1 else ''}"
    return Gain(round(min(0.5, ONE_PLACE + 0.2 * depth), 2), where)


def _repeated(facts: Facts) -> Gain:
    """The share of the work that tiles of the axis with most of it have in common."""
    total = sum(_cost(w) for w in facts.work)
    shares = {axis: redundant_work(facts, axis) for axis in facts.tiled_axes}
    best = max(shares.values(), key=lambda work: sum(_cost(w) for w in work), default=())
    if not best or total == 0:
        return Gain(0.0, "no work repeats")
    share = sum(_cost(w) for w in best) / total
    return Gain(round(share, 2), f"{share:.0%} of its reductions, products and exponentials repeat in every tile")


def _cost(work: Work) -> float:
    return WEIGHTS.get(work.operation, 1.0) * (IN_LOOP if work.in_loop else 1.0)


def _loops_around(facts: Facts, line: int) -> int:
    """Loops around the first statement of the kernel that stands at the line."""
    flow = flow_of(facts.kernel.node)
    at = [s for s in flow.loops if s.lineno <= line <= (s.end_lineno or s.lineno)]
    return max((len(flow.loops[s]) + isinstance(s, (ast.For, ast.While)) * (s.lineno < line) for s in at), default=0)
