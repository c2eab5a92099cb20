"""Scales of plots: values to percentages of the width, and where ticks stand. Ratios are on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_DECADE = (1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 9.5)
_STEPS = tuple(float(f"{step * 10.0**power:g}") for power in (-3, -2, -1, 0, 1, 2) for step in _DECADE) + (1000.0,)
"""Values that may be labelled."""
_APART = 12.0
"""Least distance of two ticks, in percent of the width: labels stay apart on a phone."""
_LEAST = 1.12
"""The axis covers at least this factor: differences of a percent are not drawn as if they were large."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A logarithmic axis from `low` to `high`."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Percent of the width, 0 to 100; what lies outside stands at the end."""
        place = math.log(max(value, 1e-12) / self.low) / math.log(self.high / self.low)
        return round(100 * min(1.0, max(0.0, place)), 2)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Place and label of every tick; 1 is always one, as it is always on the axis."""
        taken = [1.0]
        for value in sorted(_STEPS, key=lambda step: (abs(math.log2(step)) % 1.0 > 1e-9, abs(math.log(step)))):
            if self.holds(value) and all(abs(self.at(value) - self.at(other)) >= _APART for other in taken):
                taken.append(value)
        return [(self.at(value), f"{value:g}×") for value in sorted(taken)]


def scale_for(values: Iterable[float]) -> Scale:
    """An axis that holds all of `values` and 1, with a margin."""
    logs = [0.0, *(math.log(min(max(value, 1e-3), 1e3)) for value in values)]
    low, high = min(logs), max(logs)
    missing = max(0.0, math.log(_LEAST) - (high - low)) / 2
    margin = 0.06 * max(high - low, math.log(_LEAST))
    return Scale(math.exp(low - missing - margin), math.exp(high + missing + margin))
