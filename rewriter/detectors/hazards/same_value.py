"""same_value_store: every tile stores the same value to the same place, and nothing says that one may do it."""

from __future__ import annotations

from skel.store.schema import Finding

from ...analysis.stores import StoreClass, place_name
from ...reasons import finding
from ..view import KernelView
from .reports import place, reports, several_tiles


def hazards(view: KernelView) -> list[Finding]:
    """One finding for each store and axis."""
    found: dict[tuple[int, str], Finding] = {}
    for report in reports(view):
        for classified in report.stores:
            access = classified.access
            if classified.store_class is StoreClass.INVARIANT and (access.line, report.name) not in found:
                found[access.line, report.name] = finding(
                    "same_value_store",
                    place(view, access.line, report.name),
                    axis=report.name,
                    name=place_name(access),
                    data={"fails_when": f"{several_tiles(report)}, and the values differ between tiles"},
                )
    return list(found.values())
