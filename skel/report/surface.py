"""The search surface: what every combination of decisions gained, as grids of tile by warps for each form."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from skel.store.schema import Evidence

from .reading import part, plain, positive, rows, text

ACROSS, FACET = "num_warps", "form"
_BOUNDS = (1.03, 1.15, 1.35, 1.6)
"""Ratios at which a cell's colour becomes stronger; their inverses for what is slower."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination: its ratio, or why there is none."""

    text: str = ""
    shade: int = 0
    """-4 (much slower) to 4 (much faster)."""
    label: str = ""
    chosen: bool = False
    timed: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A form's combinations: rows are what is left of the decisions, columns the warps."""

    title: str
    rows_are: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True)
class Surface:
    """The grids of one workload, or of the mean over all."""

    title: str
    grids: tuple[Grid, ...]


@dataclass(frozen=True, slots=True)
class _Point:
    facet: str
    row: tuple[Any, ...]
    column: Any
    names: tuple[str, ...]
    candidate: str
    label: str
    ratio: float | None
    why: str


def surfaces_of(evidence: Evidence) -> tuple[Surface, ...]:
    """First the geometric mean over the workloads, then each workload; none where no screening is stored."""
    points = [_point(entry) for entry in rows(evidence.timing.get("screening")) if part(entry, "settings")]
    if not points:
        return ()
    labels = list(dict.fromkeys(point.label for point in points))
    chosen = {text(row, "label"): text(row, "chosen") for row in evidence.workloads}
    whole = Surface("Geometric mean over the workloads", _grids(points, set(chosen.values())))
    each = [
        Surface(label, _grids([p for p in points if p.label == label], {chosen.get(label, "")})) for label in labels
    ]
    return whole, *(each if len(labels) > 1 else ())


def _point(entry: dict[str, Any]) -> _Point:
    settings = part(entry, "settings")
    rest = {key: settings[key] for key in sorted(settings) if key not in (ACROSS, FACET)}
    return _Point(
        facet=plain(settings.get(FACET, "")),
        row=tuple(rest.values()),
        column=settings.get(ACROSS, ""),
        names=tuple(rest),
        candidate=text(entry, "candidate"),
        label=text(entry, "workload"),
        ratio=positive(entry, "cold"),
        why=text(entry, "why"),
    )


def _grids(points: list[_Point], chosen: set[str]) -> tuple[Grid, ...]:
    facets = list(dict.fromkeys((point.facet, point.names) for point in points))
    return tuple(
        _grid(facet, names, [p for p in points if (p.facet, p.names) == (facet, names)], chosen)
        for facet, names in facets
    )


def _grid(facet: str, names: tuple[str, ...], points: list[_Point], chosen: set[str]) -> Grid:
    varied = [i for i in range(len(names)) if len({plain(point.row[i]) for point in points}) > 1]
    varied = varied or list(range(len(names)))[:1]
    columns = sorted({plain(point.column) for point in points}, key=_order)
    lines = sorted({tuple(map(plain, point.row)) for point in points}, key=lambda row: [_order(one) for one in row])
    made = []
    for line in lines:
        there = [point for point in points if tuple(map(plain, point.row)) == line]
        title = " · ".join(line[i] for i in varied)
        made.append((title, tuple(_cell([p for p in there if plain(p.column) == c], chosen) for c in columns)))
    return Grid(facet, " · ".join(names[i] for i in varied), tuple(columns), tuple(made))


def _cell(points: list[_Point], chosen: set[str]) -> Cell:
    if not points:
        return Cell()
    name = points[0].candidate
    ratios = [point.ratio for point in points if point.ratio is not None]
    reasons = list(dict.fromkeys(point.why or "not stored" for point in points if point.ratio is None))
    if not ratios:
        return Cell(", ".join(reasons), label=f"{name}: {', '.join(reasons)}", chosen=name in chosen)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    partly = f", on {len(ratios)} of {len(points)} workloads ({', '.join(reasons)})" if reasons else ""
    return Cell(
        f"{mean:.2f}" + ("*" if reasons else ""), shade(mean), f"{name}: {mean:.3f}{partly}", name in chosen, timed=True
    )


def shade(ratio: float) -> int:
    """The strength of a cell's colour, negative for what is slower."""
    steps = sum(max(ratio, 1 / ratio) >= bound for bound in _BOUNDS)
    return steps if ratio >= 1 else -steps


def _order(value: str) -> tuple[int, float, str]:
    """`kept` first, then numbers by size, then words."""
    if value in ("kept", ""):
        return 0, 0.0, value
    return (1, float(value), "") if value.replace(".", "", 1).isdecimal() else (2, 0.0, value)


def is_partial(surfaces: Iterable[Surface]) -> bool:
    """True where a cell's mean leaves workloads out."""
    return any(
        cell.timed and cell.text.endswith("*")
        for one in surfaces
        for grid in one.grids
        for _, cells in grid.rows
        for cell in cells
    )
