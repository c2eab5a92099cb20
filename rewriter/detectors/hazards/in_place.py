"""inplace_shared: tiles read what other tiles of the same launch write, so that the order of programs decides.

Split into more tiles, or run in more than one wave, such a kernel applies its update twice to some elements.
"""

from __future__ import annotations

from skel.store.schema import Finding

from ...reasons import finding
from ..view import KernelView
from .reports import place, reports, several_tiles


def hazards(view: KernelView) -> list[Finding]:
    """One finding for each place and axis where memory is read and written and tiles share it."""
    found: dict[tuple[int | None, str], Finding] = {}
    for report in reports(view):
        for classified in report.stores:
            reason = classified.refusal
            if reason is not None and reason.code == "inplace_not_separated" and not view.facts.program_counts:
                name = ", ".join(sorted(classified.access.pointer.bases)) or "memory"
                found.setdefault(
                    (reason.line, report.name),
                    finding(
                        "inplace_shared",
                        place(view, reason.line, report.name),
                        severity="warning",
                        axis=report.name,
                        name=name,
                        data={"word": "hazard", "lines": list(reason.lines), "fails_when": several_tiles(report)},
                    ),
                )
    return list(found.values())
