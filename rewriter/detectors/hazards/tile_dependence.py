"""tile_dependence: a value reduced over a tile's own lanes is used as if it were the whole dimension's."""

from __future__ import annotations

import ast

from skel.store.schema import Finding

from ...analysis.lanes import LaneReport
from ...analysis.stores import place_name
from ...reasons import finding
from ..view import KernelView
from .reports import place, reports, several_tiles

_CODES = frozenset({"reduction_over_tile_axis", "nonlinear_partial"})


def hazards(view: KernelView) -> list[Finding]:
    """One finding for each reduction and axis, at the reduction, with the stores that it reaches."""
    found: dict[tuple[int | None, str], Finding] = {}
    for report in reports(view):
        for classified in report.stores:
            reason = classified.refusal
            if reason is None or reason.code not in _CODES or (reason.line, report.name) in found:
                continue
            found[reason.line, report.name] = finding(
                "tile_dependence",
                place(view, reason.line, report.name),
                axis=report.name,
                name=place_name(classified.access),
                data={
                    "word": "tile dependence",
                    "tuned": _is_tuned(view, report),
                    "stored_at": classified.access.line,
                    "lines": list(reason.lines),
                    "why": reason.code,
                    "fails_when": several_tiles(report),
                },
            )
    return list(found.values())


def _is_tuned(view: KernelView, report: LaneReport) -> bool:
    """True where the kernel's autotuner chooses among several tiles of the axis."""
    if view.kernel.autotune is None:
        return False
    tables = [n for n in ast.walk(view.kernel.autotune) if isinstance(n, ast.Dict)]
    given = {
        ast.unparse(value)
        for table in tables
        for key, value in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant) and key.value in report.tiles
    }
    return len(given) > 1 or any(not text.isdigit() for text in given)
