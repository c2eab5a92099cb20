"""fusable_axis: which grid axis to fuse, and everything that speaks for or against it.

The axis is the one with the most redundant work; `--set axis=NAME` chooses another.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from skel.store.schema import Refusal

from ..analysis.axes import Axis
from ..analysis.facts import Facts
from ..analysis.lanes import lane_report
from ..kernel.count import Count
from ..kernel.definition import KernelDef
from ..kernel.launch import Launch, readable_launches
from ..reasons import Refuse, refusal, refuse
from .aliases import aliases_of
from .axis_by_flag import FlaggedAxis, axis_by_flag
from .context import FusionContext
from .launch_sites import counted_axis
from .redundant_work import redundant_work
from .tile_arguments import tile_arguments


def choose_axis(facts: Facts, wanted: str | None = None) -> FusionContext:
    """The axis to fuse, with its tile, launches and lane report.

    Raises Refuse: no_tiled_axis, no_redundant_work, no_launch_site, unreadable_launch, grid_not_tied_to_tile, ...
    """
    kernel, module = facts.kernel, facts.module
    flagged = axis_by_flag(facts)
    if flagged is not None:
        raise _flagged(flagged, kernel)
    tiled = [a for a in facts.tiled_axes if tile_parameter(facts, a) is not None]
    if wanted is not None:
        tiled = [a for a in tiled if facts.axis_name(a) == wanted]
    if not tiled:
        raise refuse("no_tiled_axis", kernel.node, kernel=kernel.name)
    ranked = sorted(tiled, key=lambda a: -_worth(facts, a))
    if _worth(facts, ranked[0]) == 0:
        raise refuse("no_redundant_work", kernel.node, axis=" and ".join(facts.axis_name(a) for a in tiled))
    launches = readable_launches(module, kernel)
    aliases = aliases_of(module, launches)
    first: Refuse | None = None
    for axis in (a for a in ranked if _worth(facts, a)):
        tile = tile_parameter(facts, axis)
        assert tile is not None
        counts: dict[Launch, tuple[Count, ...]] = {}
        problem: Refuse | None = None
        try:
            counts = _counts(facts, axis, tile, launches)
        except Refuse as caught:
            problem = caught
        report = lane_report(facts, axis, aliases, tile_arguments(facts, launches, counts, tile))
        if problem is not None and not report.refusals:
            # The kernel's own refusals say more than the launcher's: an axis that both rule out reports the former.
            first = first or problem
            continue
        refusals = tuple(_with_tests(r, kernel, tile) for r in report.refusals)
        report = replace(report, refusals=refusals)
        return FusionContext(facts, axis, report.name, tile, launches, counts, report)
    assert first is not None
    raise first


def _flagged(flagged: FlaggedAxis, kernel: KernelDef) -> Refuse:
    """What speaks against fusing for either value of the flag, and that the flag moves the axis."""
    found: list[Refusal] = []
    for facts, _ in (flagged.held, flagged.otherwise):
        side = Facts(facts.module, facts.kernel, facts.runs, ())
        try:
            found += choose_axis(side).lanes.refusals
        except Refuse as refused:
            found += refused.refusals
    moved = refusal(
        "axis_by_flag",
        kernel.node,
        tile=flagged.tile,
        flag=flagged.flag,
        held=flagged.held[1],
        otherwise=flagged.otherwise[1],
    )
    first, *others = dict.fromkeys([*found, moved])
    return Refuse(first, others)


def _with_tests(reason: Refusal, kernel: KernelDef, tile: str) -> Refusal:
    """The refusal of a tile that is used otherwise, with the lines of the comparisons that use it."""
    if reason.code != "tile_used_otherwise":
        return reason
    tests = [n for n in ast.walk(kernel.node) if isinstance(n, ast.Compare)]
    lines = [t.lineno for t in tests for n in ast.walk(t) if isinstance(n, ast.Name) and n.id == tile]
    return reason.model_copy(update={"lines": tuple(dict.fromkeys((*reason.lines, *lines)))})


def tile_parameter(facts: Facts, axis: Axis) -> str | None:
    """The one constexpr parameter that sizes the axis' tiles; None where there is none or several."""
    sizes = facts.tile_sizes(axis)
    return sizes[0] if len(sizes) == 1 and sizes[0] in facts.kernel.constexprs else None


def _worth(facts: Facts, axis: Axis) -> int:
    """Redundant work, dots and reductions counting most: only to rank axes of one kernel."""
    weight = {"dot": 16, "sum": 4, "max": 4, "cumsum": 4, "divide": 1}
    return sum(weight.get(w.operation, 2) for w in redundant_work(facts, axis))


def _counts(facts: Facts, axis: Axis, tile: str, launches: Sequence[Launch]) -> dict[Launch, tuple[Count, ...]]:
    number = int(axis.root) if axis.root.isdigit() else None
    return {launch: counted_axis(facts.module, launch, tile, number)[1] for launch in launches}


def axis_creations(facts: Facts, axis: Axis) -> list[ast.expr]:
    """The kernel's own expressions that make the axis: `tl.program_id(0)`, or `pid % NV`."""
    found: dict[ast.expr, None] = {}
    for events in facts.runs:
        for node, value in events.values.items():
            atom = value.poly.sole_atom() if value.poly is not None else None
            if (
                atom is None
                or atom.kind != "axis"
                or axis not in atom.axes
                or not isinstance(node, (ast.Call, ast.BinOp))
            ):
                continue
            if (
                isinstance(node, ast.BinOp)
                or not isinstance(node.func, ast.Attribute)
                or node.func.attr not in ("to", "cast")
            ):
                found[node] = None
    return list(found)


__all__ = ["Refusal", "axis_creations", "choose_axis", "refusal", "tile_parameter"]
