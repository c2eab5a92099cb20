"""Bounds of one floating-point value, and how they combine.

A value is 0 (if `zero`), or lies in [low, high], or is infinite (if `infinite`), or is NaN, which no bound excludes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

LARGEST = 3.5e38
"""Above every finite fp32 value."""


@dataclass(frozen=True, slots=True)
class Range:
    """What a value may be; the default is anything."""

    low: float = -math.inf
    high: float = math.inf
    zero: bool = True
    infinite: bool = True

    @property
    def least(self) -> float:
        """Lower bound of the finite values."""
        return min(self.low, 0.0) if self.zero else self.low

    @property
    def most(self) -> float:
        """Upper bound of the finite values."""
        return max(self.high, 0.0) if self.zero else self.high

    @property
    def floor(self) -> float:
        """Lower bound, infinities counted: what has no negative value is never minus infinity."""
        return -math.inf if self.infinite and self.least < 0 else self.least

    @property
    def ceiling(self) -> float:
        """Upper bound, infinities counted: what has no positive value is never infinite upwards."""
        return math.inf if self.infinite and self.most > 0 else self.most


ANYTHING = Range()


def join(parts: list[Range]) -> Range:
    """Any of several values."""
    if not parts:
        return ANYTHING
    return Range(
        min(p.low for p in parts),
        max(p.high for p in parts),
        any(p.zero for p in parts),
        any(p.infinite for p in parts),
    )


def constant(value: float) -> Range:
    """A number."""
    if math.isinf(value):
        return Range(value, value, False, True)
    return Range(value, value, value == 0.0, False)


def bounded(low: float, high: float, infinite: bool = False) -> Range:
    """Anything between two bounds, zero and infinity included where the bounds allow them."""
    if math.isnan(low) or math.isnan(high):
        return ANYTHING
    return Range(low, high, low <= 0 <= high, infinite or not (low > -LARGEST and high < LARGEST))


def added(a: Range, b: Range) -> Range:
    """The finite values add up; an infinity of either sign keeps its side of the bounds open."""
    low, high = a.least + b.least, a.most + b.most
    if math.inf in (a.ceiling, b.ceiling) and not high > 0:
        high = math.inf
    if -math.inf in (a.floor, b.floor) and not low < 0:
        low = -math.inf
    return bounded(low, high, a.infinite or b.infinite)


def times(x: float, y: float) -> float:
    """A product of bounds: 0 times an infinite bound is 0."""
    return 0.0 if x == 0 or y == 0 else x * y


def over(x: float, y: float) -> float:
    """A quotient of bounds, the divisor positive and finite."""
    return x / y if math.isfinite(x) else x
