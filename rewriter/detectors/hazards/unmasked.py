"""unmasked_access: an access along a tiled axis that nothing cuts at the dimension."""

from __future__ import annotations

from skel.store.schema import Finding

from ...analysis.stores import place_name
from ...reasons import finding
from ..view import KernelView
from .reports import place, reports, tail


def hazards(view: KernelView) -> list[Finding]:
    """One finding for each axis, at its first access, where others along the same axis are masked.

    A kernel that masks nothing along an axis relies on a tile that divides the dimension, and says so by that; one that
    masks some accesses and not others has a gap.
    """
    found = []
    for report in reports(view):
        along = [a for a in view.facts.accesses if report.axis in a.pointer.lanes]
        if not report.uncovered or len(report.uncovered) == len(along):
            continue
        lines = sorted({a.line for a in report.uncovered})
        found.append(
            finding(
                "unmasked_access",
                place(view, lines[0], report.name),
                axis=report.name,
                line=lines[0],
                data={
                    "word": "hazard",
                    "lines": lines,
                    "into": place_name(report.uncovered[0]),
                    "fails_when": tail(report),
                },
            )
        )
    return found
