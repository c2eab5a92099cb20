"""Store classes of a file's kernels along their tiled axes: what `skel lanes` prints."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from skel.store.schema import Refusal

from ..analysis.axes import Axis
from ..analysis.facts import Facts, analyse
from ..analysis.lanes import lane_report
from ..conditions.aliases import aliases_of
from ..detectors.view import launches_in
from ..kernel.definition import KernelDef, Module, read_module
from ..kernel.source import read_source
from ..reasons import Refuse


@dataclass(frozen=True, slots=True)
class AxisLanes:
    """One kernel along one tiled axis."""

    file: str
    kernel: str
    line: int
    axis: str
    tiles: tuple[str, ...]
    """Sizes of the tile: names of constexpr parameters."""
    verdict: str
    """`separable`, `linear_partials`, `nonlinear_partials`, `blocked` or `unknown`."""
    stores: dict[str, int]
    """How many stores and atomics there are of each class: L, G, I, S and R."""
    uncovered: tuple[int, ...]
    """Lines of accesses along the axis that nothing bounds."""
    refusals: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class FileLanes:
    """One file."""

    axes: tuple[AxisLanes, ...] = ()
    not_read: str | None = None


def lanes(text: str, path: str, axis: str | None = None) -> FileLanes:
    """A report for every kernel and axis that walks tiles of a constexpr size; of `axis` alone where it is given."""
    try:
        module = read_module(read_source(text, path))
    except Refuse as refused:
        return FileLanes(not_read=refused.refusal.message)
    found = []
    for kernel in module.kernels:
        facts = analyse(module, kernel)
        for tiled in facts.tiled_axes:
            tiles = facts.tile_sizes(tiled)
            name = facts.axis_name(tiled)
            if set(tiles) & kernel.constexprs and (axis is None or axis == name):
                found.append(_report(module, kernel, facts, tiled, path))
    return FileLanes(tuple(found))


def _report(module: Module, kernel: KernelDef, facts: Facts, axis: Axis, path: str) -> AxisLanes:
    report = lane_report(facts, axis, aliases_of(module, launches_in(module, kernel)))
    classes = Counter(
        c.store_class.value
        for c in {(c.access.kind, id(c.access.node), c.store_class): c for c in report.stores}.values()
    )
    return AxisLanes(
        path,
        kernel.name,
        kernel.node.lineno,
        report.name,
        report.tiles,
        report.verdict,
        {name: classes[name] for name in "LGISR" if classes[name]},
        tuple(sorted({a.line for a in report.uncovered})),
        report.refusals,
    )
