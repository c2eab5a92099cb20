"""What an opportunity may be worth, from the facts of its kernel alone: an order among them, never a promise.

Work that repeats in every tile counts by its share of all the kernel's work; a change to one place counts by the loops
around it, since what runs once a program is seldom worth a line. Registers and waves, where they are known, move what
needs room or programs; where they are unknown they move nothing, and this is said.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass

from ..analysis.events import Work
from ..analysis.facts import Facts
from ..analysis.flow import flow_of
from ..conditions.redundant_work import redundant_work
from .footprint import TARGET, Footprint, Known
from .rank import COMFORTABLE_REGISTERS

WEIGHTS = {"dot": 16.0, "sum": 4.0, "max": 4.0, "min": 4.0, "cumsum": 6.0}
"""Cost of an operation on a block beside an exponential's 1: a reduction crosses lanes, a product is many of them."""
IN_LOOP = 4.0
"""Rounds that a loop is taken to have where nothing is known of it."""
REPEATED = frozenset({"fuse_vtiles", "loop_tiles", "hoist_producer"})
"""Skeletons that do once what every tile repeats."""
FEWER_PROGRAMS = frozenset({"fuse_vtiles", "loop_tiles"})
"""Skeletons that leave fewer programs: under a wave there are too few already."""
MORE_PROGRAMS = frozenset({"split_tiles", "split_k", "split_kv", "parallelise_loop"})
"""Skeletons that make more programs: worth it under a wave."""
LONG_GRIDS = frozenset({"persistent_grid"})
"""Skeletons for grids of many waves."""
MORE_REGISTERS = frozenset({"fuse_vtiles", "pipeline_loads", "reuse_subexpression"})
"""Skeletons that hold more at a time."""
ONE_PLACE = 0.1
"""What a change outside of loops is put at."""
MANY_WAVES = 20.0
"""Waves from which a grid counts as long."""
STEP = 0.5
"""What registers or waves that stand against a skeleton multiply its score by, and what those for it add at most."""


@dataclass(frozen=True, slots=True)
class Gain:
    """`score` from 0, nothing known to be gained, to 1; `why` in words."""

    score: float
    why: str


def expected_gain(skeleton: str, purpose_is_speed: bool, facts: Facts, line: int, taken: Footprint) -> Gain:
    """The gain of a skeleton at a line of the kernel, which takes `taken` of a device."""
    if not purpose_is_speed:
        return Gain(0.0, "not a matter of speed")
    base = _repeated(facts) if skeleton in REPEATED else _by_loops(facts, line)
    score, reasons = base.score, [base.why]
    for moved, why in (_by_registers(skeleton, taken.registers_per_thread), _by_waves(skeleton, taken.waves)):
        score *= moved
        reasons += [why] if why else []
    return Gain(round(min(1.0, score), 2), "; ".join(reasons))


def invariant_work(facts: Facts) -> dict[str, int]:
    """How many operations of each kind repeat in every tile, along the axis with most of them."""
    return dict(sorted(Counter(w.operation for w in _most_repeated(facts)).items()))


def _by_registers(skeleton: str, registers: Known) -> tuple[float, str]:
    if skeleton not in MORE_REGISTERS:
        return 1.0, ""
    if registers.value is None:
        return 1.0, f"registers unknown: {registers.why}"
    about = f"about {registers.value:g} registers a thread, {registers.why}"
    if registers.value >= COMFORTABLE_REGISTERS:
        return STEP, f"{about}: no room for more"
    return 1.0, about


def _by_waves(skeleton: str, waves: Known) -> tuple[float, str]:
    if skeleton not in FEWER_PROGRAMS | MORE_PROGRAMS | LONG_GRIDS:
        return 1.0, ""
    if waves.value is None:
        return 1.0, f"waves on {TARGET} unknown: {waves.why}"
    about = f"{waves.value:g} waves on {TARGET}, {waves.why}"
    if skeleton in FEWER_PROGRAMS:
        return (STEP, f"{about}: fewer programs would leave it emptier") if waves.value < 1 else (1.0, about)
    if skeleton in LONG_GRIDS:
        return (1.0 + STEP, f"{about}: many short programs") if waves.value >= MANY_WAVES else (STEP, about)
    if waves.value < 1:
        return 1.0 + STEP, f"{about}: it has room for more programs"
    return STEP, f"{about}: it is full"


def _by_loops(facts: Facts, line: int) -> Gain:
    depth = _loops_around(facts, line)
    where = "outside of loops" if depth == 0 else f"inside {depth} loop{'s' if depth > 1 else ''}"
    return Gain(round(min(0.5, ONE_PLACE + 0.2 * depth), 2), where)


def _most_repeated(facts: Facts) -> tuple[Work, ...]:
    """What repeats along the axis with most of it."""
    shares = (redundant_work(facts, axis) for axis in facts.tiled_axes)
    return max(shares, key=lambda work: sum(_cost(w) for w in work), default=())


def _repeated(facts: Facts) -> Gain:
    """The share of the work that tiles of the axis with most of it have in common."""
    total, best = sum(_cost(w) for w in facts.work), _most_repeated(facts)
    if not best or total == 0:
        return Gain(0.0, "no work repeats")
    share = sum(_cost(w) for w in best) / total
    kinds = ", ".join(f"{count} {name}" for name, count in invariant_work(facts).items())
    what = f"{share:.0%} of its reductions, products and exponentials repeat in every tile ({kinds})"
    return Gain(round(share, 2), what)


def _cost(work: Work) -> float:
    return WEIGHTS.get(work.operation, 1.0) * (IN_LOOP if work.in_loop else 1.0)


def _loops_around(facts: Facts, line: int) -> int:
    """Loops around the first statement of the kernel that stands at the line."""
    flow = flow_of(facts.kernel.node)
    at = [s for s in flow.loops if s.lineno <= line <= (s.end_lineno or s.lineno)]
    return max((len(flow.loops[s]) + isinstance(s, (ast.For, ast.While)) * (s.lineno < line) for s in at), default=0)
