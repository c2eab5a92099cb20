"""same_value_store and shared_store: every tile stores to the same place, and nothing says that one may do it.

`same_value_store` where the values are proved to agree, `shared_store` where they follow from the tile.
"""

from __future__ import annotations

from skel.store.schema import Finding

from ...analysis.axes import Axis
from ...analysis.lanes import LaneReport
from ...analysis.stores import Classified, StoreClass, is_guarded, place_name
from ...reasons import finding
from ..view import KernelView
from .reports import place, reports, several_tiles


def hazards(view: KernelView) -> list[Finding]:
    """One finding for each store and axis."""
    found: dict[tuple[int, str], Finding] = {}
    for report in reports(view):
        for classified in report.stores:
            code = _code(classified, report.axis)
            if code is not None and (classified.access.line, report.name) not in found:
                found[classified.access.line, report.name] = _finding(view, report, classified, code)
    return list(found.values())


def _code(classified: Classified, axis: Axis) -> str | None:
    if classified.access.kind != "store" or is_guarded(classified.access, axis):
        return None
    if classified.store_class is StoreClass.INVARIANT:
        return "same_value_store"
    reason = classified.refusal
    return "shared_store" if reason is not None and reason.code == "unguarded_invariant_store" else None


def _finding(view: KernelView, report: LaneReport, classified: Classified, code: str) -> Finding:
    access = classified.access
    differ = "" if code == "shared_store" else ", and the values differ between tiles"
    return finding(
        code,
        place(view, access.line, report.name),
        severity="info" if code == "same_value_store" else "warning",
        axis=report.name,
        name=place_name(access),
        data={"word": "hazard", "fails_when": several_tiles(report) + differ},
    )
