"""Winners and losers: every candidate that was screened, best mean first, with its worst and its best workload."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from skel.store.schema import Evidence

from .plots import Mark, Plot, Row, neutral_band, one_guide
from .reading import plain, positive, rows, text
from .scale import Scale, scale_for

BEST, WORST = 8, 4
"""How many of the best and of the worst are shown at once; the rest is folded away."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its screened ratios (cold) by workload, and the reasons where there are none."""

    name: str
    settings: str
    ratios: dict[str, float]
    untimed: dict[str, str]

    @property
    def mean(self) -> float:
        """The geometric mean over the workloads on which it was timed."""
        return math.exp(sum(map(math.log, self.ratios.values())) / len(self.ratios))

    @property
    def ends(self) -> tuple[tuple[str, float], tuple[str, float]]:
        """Its worst and its best workload."""
        ordered = sorted(self.ratios.items(), key=lambda pair: (pair[1], pair[0]))
        return ordered[0], ordered[-1]


@dataclass(frozen=True, slots=True)
class Ranking:
    """All candidates: those timed everywhere by mean, those timed on some workloads, those timed nowhere."""

    timed: tuple[Ranked, ...]
    partly: tuple[Ranked, ...]
    untimed: tuple[Ranked, ...]
    shown: Plot
    folded: Plot | None

    @property
    def why_untimed(self) -> tuple[tuple[str, int], ...]:
        """Codes of what kept candidates from being timed, and on how many workloads."""
        reasons = Counter(why for one in (*self.partly, *self.untimed) for why in one.untimed.values())
        return tuple(reasons.most_common())


def ranking_of(evidence: Evidence) -> Ranking | None:
    """None where no screening is stored."""
    found = _ranked(evidence)
    if not found:
        return None
    timed = sorted((one for one in found if not one.untimed), key=lambda one: (-one.mean, one.name))
    partly = sorted((one for one in found if one.ratios and one.untimed), key=lambda one: (-one.mean, one.name))
    untimed = [one for one in found if not one.ratios]
    scale = scale_for(value for one in (*timed, *partly) for value in one.ratios.values())
    first, middle, last = timed, [], []
    if len(timed) > BEST + WORST + 2:
        first, middle, last = timed[:BEST], timed[BEST:-WORST], timed[-WORST:]
    chosen = {text(row, "chosen") for row in evidence.workloads}
    shown = _plot(evidence, scale, [*first, *last], chosen, "")
    folded = _plot(evidence, scale, [*middle, *partly], chosen, "") if middle or partly else None
    return Ranking(tuple(timed), tuple(partly), tuple(untimed), shown, folded)


def _ranked(evidence: Evidence) -> list[Ranked]:
    """By candidate what screening says of it."""
    made: dict[str, Ranked] = {}
    for entry in rows(evidence.timing.get("screening")):
        name, label = text(entry, "candidate"), text(entry, "workload")
        one = made.setdefault(name, Ranked(name, plain(entry.get("settings")), {}, {}))
        ratio = positive(entry, "cold")
        if ratio is not None:
            one.ratios[label] = ratio
        else:
            one.untimed[label] = text(entry, "why") or "not stored"
    return [one for one in made.values() if one.name]


def _plot(evidence: Evidence, scale: Scale, found: list[Ranked], chosen: set[str], title: str) -> Plot:
    everywhere = len({text(row, "label") for row in evidence.workloads})
    made = tuple(_row(one, scale, one.name in chosen, everywhere) for one in found if one.ratios)
    return Plot(title, scale, made, (one_guide(scale),), band=neutral_band(scale, evidence.protocol))


def _row(one: Ranked, scale: Scale, chosen: bool, everywhere: int) -> Row:
    (worst, low), (best, high) = one.ends
    label = f"{one.mean:.3f}; {worst} {low:.3f}, {best} {high:.3f}"
    note = f"{low:.2f} to {high:.2f}" + (f" on {len(one.ratios)} of {everywhere}" if one.untimed else "")
    made = Mark("range", scale.at(one.mean), scale.at(low), scale.at(high), label)
    return Row(one.name, (made,), ("chosen",) if chosen else (), f"{one.mean:.2f}×", note)
