"""Lane reports of the axes on which a launch gives more than one tile, and where a finding stands."""

from __future__ import annotations

from functools import lru_cache

from skel.store.schema import Place

from ...analysis.lanes import LaneReport, lane_report
from ...conditions.aliases import aliases_of
from ..fuse_vtiles import walked_axes
from ..view import KernelView


@lru_cache(maxsize=4)
def reports(view: KernelView) -> tuple[LaneReport, ...]:
    """One report for each tiled axis with a constexpr tile."""
    aliases = aliases_of(view.module, view.launches)
    return tuple(lane_report(view.facts, axis, aliases) for axis in walked_axes(view))


def place(view: KernelView, line: int | None, axis: str | None = None) -> Place:
    """The place of a finding."""
    return Place(file=view.module.source.path, line=line, kernel=view.kernel.name, axis=axis)


def several_tiles(report: LaneReport) -> str:
    """When a launch has more than one tile along the axis, in words: below that nothing shows."""
    return f"the dimension along {report.name} is larger than its tile, {' or '.join(report.tiles) or 'one lane'}"


def tail(report: LaneReport) -> str:
    """When the last tile along the axis is not whole, in words."""
    return f"the dimension along {report.name} is no multiple of its tile, {' or '.join(report.tiles) or 'one lane'}"
