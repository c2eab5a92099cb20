"""The geometric means over all workloads: against each baseline, cold and warm."""

from __future__ import annotations

from dataclasses import dataclass

from skel.store.schema import Evidence

from .plots import Plot, Ratio, Row, all_ends, mark, neutral_band, one_guide, ratio_of
from .reading import MODES, get, number
from .scale import scale_for

BASELINES = {
    "": "the original as shipped",
    "_over_own": "the original's own best configuration",
    "_over_widened": "only widening the tile",
}
"""Key suffix in the evidence, and what the result is held against."""


@dataclass(frozen=True, slots=True)
class Mean:
    """What the result gains over one baseline, by mode."""

    baseline: str
    ratio: dict[str, Ratio]


@dataclass(frozen=True, slots=True)
class Means:
    """The means, the smallest ratio of any workload by mode, and their plot."""

    means: tuple[Mean, ...]
    minimum: dict[str, float]
    plot: Plot


def means_of(evidence: Evidence) -> Means | None:
    """None where there are none: something was not timed to its end."""
    stored = get(evidence.timing, "geometric_mean")
    found = [
        Mean(baseline, ratio)
        for suffix, baseline in BASELINES.items()
        if (ratio := {mode: r for mode in MODES if (r := ratio_of(get(stored, f"{mode}{suffix}")))})
    ]
    if not found:
        return None
    scale = scale_for(all_ends(r for mean in found for r in mean.ratio.values()))
    rows = tuple(
        Row(
            mean.baseline,
            tuple(mark(scale, r, mode) for mode, r in mean.ratio.items()),
            value=mean.ratio["cold"].value if "cold" in mean.ratio else "",
            note=" / ".join(r.exact for r in mean.ratio.values()),
        )
        for mean in found
    )
    guides = (one_guide(scale, "as fast as"),)
    plot = Plot("Geometric mean over all workloads", scale, rows, guides, band=neutral_band(scale, evidence.protocol))
    minimum = {mode: least for mode in MODES if (least := number(stored, f"{mode}_minimum")) is not None}
    return Means(tuple(found), minimum, plot)
