"""Statistics of samples: medians, how well a median is known, ratios pair by pair with a bootstrap interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Pair = tuple[float, float]
"""Seconds of the original and of the other, measured one right after the other."""
Blocks = Sequence[Sequence[Pair]]
"""Pairs by process and trial: what they share moves together, so blocks are drawn before pairs."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A median with the ends of its confidence interval."""

    median: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        return {"median": round(self.median, 5), "low": round(self.low, 5), "high": round(self.high, 5)}


def median(values: Sequence[float]) -> float:
    """The middle value; the mean of the two middle ones. Raises ValueError for no values."""
    if not values:
        raise ValueError("there is no median of nothing")
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def median_error(values: Sequence[float]) -> float:
    """Half the width of the median's 95 % interval, from order statistics, relative to the median.

    Infinite for fewer than six values, which give no such interval (David and Nagaraja, Order Statistics, 7.1).
    """
    count = len(values)
    if count < 6:
        return math.inf
    ordered = sorted(values)
    reach = 0.98 * math.sqrt(count)
    low, high = max(0, math.floor(count / 2 - reach)), min(count - 1, math.ceil(count / 2 + reach))
    return (ordered[high] - ordered[low]) / 2 / median(ordered)


def ratio_interval(blocks: Blocks, resamples: int, confidence: float, seed: int) -> Interval:
    """The median of original over other, pair by pair, with its bootstrap interval. Raises ValueError without pairs."""
    return geometric_interval([blocks], resamples, confidence, seed)


def geometric_interval(
    workloads: Sequence[Blocks], resamples: int, confidence: float, seed: int, *, fixed: int = 0
) -> Interval:
    """Geometric mean over workloads of their median ratios; `fixed` more of them are exactly 1 (the original kept).

    A resample draws blocks with replacement, and from each as many pairs with replacement as it holds.
    Raises ValueError without any workload, and for a workload without pairs.
    """
    import numpy as np

    count = len(workloads) + fixed
    if not count:
        raise ValueError("there is no mean of nothing")
    ratios = [[[a / b for a, b in block] for block in blocks if block] for blocks in workloads]
    if not ratios:
        return Interval(1.0, 1.0, 1.0)
    middle = math.exp(sum(math.log(median([one for block in blocks for one in block])) for blocks in ratios) / count)
    rng = np.random.default_rng(seed)
    logs = sum(np.log(_resampled_medians(blocks, resamples, rng)) for blocks in ratios) / count
    tail = (1 - confidence) / 2
    low, high = np.exp(np.quantile(logs, [tail, 1 - tail]))
    return Interval(middle, min(float(low), middle), max(float(high), middle))


def _resampled_medians(blocks: Sequence[Sequence[float]], resamples: int, rng: Any) -> Any:
    import numpy as np

    sizes = np.array([len(block) for block in blocks])
    table = np.full((len(blocks), sizes.max()), np.nan)
    for number, block in enumerate(blocks):
        table[number, : len(block)] = block
    drawn = (rng.random((resamples, len(blocks))) * len(blocks)).astype(int)
    places = (rng.random((resamples, len(blocks), sizes.max())) * sizes[drawn][:, :, None]).astype(int)
    values = table[drawn[:, :, None], places]
    values = np.where(np.arange(sizes.max()) < sizes[drawn][:, :, None], values, np.nan)
    return np.nanmedian(values.reshape(resamples, -1), axis=1)
