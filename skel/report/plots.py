"""Plots as data: rows of marks on a shared logarithmic axis. Templates draw them; nothing is drawn here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .reading import get, positive
from .scale import Scale


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times faster than the original, with the ends of its interval."""

    median: float
    low: float
    high: float

    @property
    def value(self) -> str:
        return f"{self.median:.2f}×"

    @property
    def exact(self) -> str:
        return f"{self.median:.3f}"

    @property
    def ends(self) -> str:
        return f"{self.low:.3f} to {self.high:.3f}"

    def __str__(self) -> str:
        return f"{self.exact} ({self.ends})"


@dataclass(frozen=True, slots=True)
class Mark:
    """A point with its interval, places in percent of the width."""

    mode: str
    """`cold`, `warm`, or `range` for a geometric mean with the least and the best of its workloads."""
    at: float
    low: float
    high: float
    label: str


@dataclass(frozen=True, slots=True)
class Guide:
    """A vertical line through all rows of a plot."""

    at: float
    kind: str
    """`one`, `own` or `floor`."""
    label: str


@dataclass(frozen=True, slots=True)
class Row:
    """A version: its marks, what stands beside them, and the fractions of the floor it reaches."""

    name: str
    marks: tuple[Mark, ...] = ()
    tags: tuple[str, ...] = ()
    value: str = ""
    note: str = ""
    floors: tuple[tuple[str, float], ...] = ()
    """Mode and percent, 0 to 100."""


@dataclass(frozen=True, slots=True)
class Plot:
    """Rows on one axis."""

    title: str
    scale: Scale
    rows: tuple[Row, ...]
    guides: tuple[Guide, ...] = ()
    note: str = ""
    verdict: str = ""
    band: tuple[float, float] | None = None
    """Where ratios count as neutral: left end and width in percent."""


def ratio_of(value: Any) -> Ratio | None:
    """A ratio from `{"median", "low", "high"}`; None where it is none."""
    median, low, high = (positive(value, key) for key in ("median", "low", "high"))
    if median is None:
        return None
    return Ratio(median, low if low is not None else median, high if high is not None else median)


def mark(scale: Scale, ratio: Ratio, mode: str) -> Mark:
    """The mark of a ratio on the axis."""
    return Mark(mode, scale.at(ratio.median), scale.at(ratio.low), scale.at(ratio.high), f"{mode} {ratio}")


def one_guide(scale: Scale, label: str = "the original") -> Guide:
    """The line at 1: as fast as the original."""
    return Guide(scale.at(1.0), "one", label)


def neutral_band(scale: Scale, protocol: Any) -> tuple[float, float] | None:
    """Where the protocol in force calls a ratio neutral; None where it does not say."""
    low, high = (positive(get(protocol, "timing"), key) for key in ("slower_below", "faster_above"))
    if low is None or high is None:
        return None
    return scale.at(low), round(max(0.0, scale.at(high) - scale.at(low)), 2)


def all_ends(ratios: Iterable[Ratio | None]) -> list[float]:
    """Medians and ends, to choose an axis by."""
    return [value for one in ratios if one is not None for value in (one.median, one.low, one.high)]
