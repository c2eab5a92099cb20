"""split_tiles: a narrower tile, so that more programs share the work of one.

rewrite:  BV = min(triton.next_power_of_2(V), 64)  ->  BV = min(triton.next_power_of_2(V), 16)
          BV = triton.next_power_of_2(V)           ->  BV = min(16, triton.next_power_of_2(V))
          kernel[(triton.cdiv(V, 64), B)](BV=64)   ->  kernel[(triton.cdiv(V, 16), B)](BV=16)
          grid = (triton.cdiv(V, BV), B)               (unchanged: the grid follows the tile)

Conditions
    - tiles of the axis are mergeable, which makes them divisible too: every store is lane-addressed, guarded,
      invariant or an atomic sum, every store along the lanes is bounded, and nothing else looks at the tile or its
      index; loads need no bound, since narrower tiles reach no further than the wider ones did;
    - no partials in slots: their buffer was made for the tiles there were;
    - what the kernel stores along the axis' lanes it loads along them as well: one tile may not read another's result;
    - the launcher assigns the tile, or writes it as a number at the launch and in the grid; it reads the count of tiles
      for this grid, arguments and the sizes of buffers only: an assertion or a choice of type may count on it;
    - where the kernel takes the axis out of a flattened program id, it does so by the number of these tiles;
    - the tiles cover the dimension: their number is rounded up, or the launcher asserts that nothing is left;
    - the new tile is a power of two below every number in the assignment, and at least 16 where the kernel has dots.

Numerics
    `contracted`: each lane's operations stay, but another tile may fuse multiplications and additions differently.

Refuses: no_tiled_axis, bad_setting, already_applied, tile_shared, tile_unknown, tile_must_divide,
inplace_not_separated, partial_not_summed, and with the codes of conditions/mergeable.py and launch_sites.py.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass, Refusal

from ..analysis.axes import Axis
from ..analysis.facts import Facts, analyse
from ..analysis.flow import flow_of
from ..analysis.lanes import lane_report
from ..analysis.operators import operation
from ..analysis.stores import StoreClass
from ..conditions.aliases import aliases_of
from ..conditions.bounds import unbounded
from ..conditions.context import FusionContext
from ..conditions.decoded_count import require_decoded_by_count
from ..conditions.fusable_axis import tile_parameter
from ..conditions.launch_sites import (
    counted_axis,
    require_free_count,
    require_launchers_tile,
    require_own_tile,
    require_same_choice,
)
from ..conditions.mergeable import check_mergeable
from ..conditions.partial_sums import require_buffers_summed
from ..conditions.tile_arguments import tile_arguments
from ..kernel.changes import Changes
from ..kernel.count import Count, divisions_by, tile_count_uses
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.idioms import ceiling_text
from ..kernel.launch import Launch, readable_launches
from ..kernel.plain import written
from ..kernel.tile import TileBinding, trace_tile
from ..reasons import Refuse, refuse, refuse_all
from .base import Primitive

SMALLEST_DOT = 16
"""Lanes that a dot needs at least."""


def split_tiles(module: Module, kernel: KernelDef, tile: int = 16, axis: str | None = None) -> list[Edit]:
    """Edits that narrow the tile of an axis (the first that allows it, or the one called `axis`). Raises Refuse."""
    if type(tile) is not int or tile < 1 or tile & (tile - 1):
        raise refuse("bad_setting", kernel.node, setting="tile", value=tile, why="a tile is a power of two")
    facts = analyse(module, kernel)
    axes = [a for a in facts.tiled_axes if tile_parameter(facts, a) is not None]
    axes = [a for a in axes if axis is None or facts.axis_name(a) == axis]
    if not axes:
        raise refuse("no_tiled_axis", kernel.node, kernel=kernel.name)
    launches = readable_launches(module, kernel)
    first: Refuse | None = None
    for one in axes:
        try:
            return _split(facts, one, launches, tile)
        except Refuse as refused:
            first = first or refused
    assert first is not None
    raise first


def _split(facts: Facts, axis: Axis, launches: tuple[Launch, ...], tile: int) -> list[Edit]:
    module, kernel = facts.module, facts.kernel
    param = tile_parameter(facts, axis)
    assert param is not None
    number = int(axis.root) if axis.root.isdigit() else None
    require_same_choice(module, launches, param)
    counts = {launch: counted_axis(module, launch, param, number)[1] for launch in launches}
    require_decoded_by_count(facts, axis, param, counts)
    aliases = aliases_of(module, launches)
    report = lane_report(facts, axis, aliases, tile_arguments(facts, launches, counts, param))
    context = FusionContext(facts, axis, report.name, param, launches, counts, report)
    refuse_all(_against(context))
    _require_lanes_apart(context, aliases)
    require_buffers_summed(context)
    flow = flow_of(kernel.node)
    calls = [n for n in ast.walk(kernel.node) if isinstance(n, ast.Call)]
    if tile < SMALLEST_DOT and any(operation(module, flow, n) in ("dot", "dot_scaled") for n in calls):
        raise refuse("bad_setting", kernel.node, setting="tile", value=tile, why="its dots need 16 lanes")
    changes = Changes()
    for launch in launches:
        require_free_count(module, launch, param, counts[launch])
        for count in counts[launch]:
            if not count.exact:
                # What is left of the dimension past the last whole tile is more with the wider tile.
                size = written(module, count.dimension)
                raise refuse("tile_must_divide", count.count_node, also=[launch.call], dimension=size, tile=param)
            for use in tile_count_uses(module, launch, param, count):
                if use.kind not in ("grid", "argument", "scratch"):
                    what = f"the number of tiles in {use.what}"
                    raise refuse("tile_shared", use.node, also=[launch.call], tile=param, what=what, line=use.line)
        binding = trace_tile(module, launch, param)
        require_launchers_tile(binding, launch)
        require_own_tile(binding, launch)
        if binding.kind == "literal":
            _narrow_literal(module, launch, binding, counts[launch], tile, changes)
        else:
            _narrow(module, launch, binding, tile, changes)
    return list(dict.fromkeys(changes.edits(module)))


def _against(context: FusionContext) -> list[Refusal]:
    """What stands against merging tiles, apart from loads without a bound: a wider tile would reach further, a narrower
    one does not. Stores without one may fill what lies past the end, and a narrower tile would leave it unset."""
    reasons = check_mergeable(context)
    if any(access.kind != "load" for access in unbounded(context)):
        return reasons
    return [reason for reason in reasons if reason.code != "non_pow2_unmasked"]


def _require_lanes_apart(context: FusionContext, aliases: dict[str, str]) -> None:
    """Raises Refuse where a tile may read what another tile wrote, or where partials have a slot a tile."""
    written: set[str] = set()
    for stored in context.lanes.stores:
        if stored.store_class is StoreClass.SLOT and stored.access.kind == "store":
            name = ", ".join(sorted(stored.access.pointer.bases))
            raise refuse("partial_not_summed", stored.access.line, axis=context.name, name=name)
        written |= {aliases.get(b, b) for b in stored.access.pointer.bases}
    for access in context.facts.loads:
        bases = {aliases.get(b, b) for b in access.pointer.bases}
        if bases & written and context.axis not in access.pointer.lanes:
            raise refuse("inplace_not_separated", access.line, axis=context.name, name=", ".join(sorted(bases)))


def _narrow(module: Module, launch: Launch, binding: TileBinding, tile: int, changes: Changes) -> None:
    """The launcher's assignments of the tile, capped. Raises Refuse: tile_unknown, already_applied, bad_setting."""
    values = [s.value for s in binding.sources if s.kind == "assign" and s.statement not in module.source.tree.body]
    if binding.kind != "name" or not values or len(values) != len(binding.sources) or None in values:
        raise refuse("tile_unknown", launch.call, also=[b.node for b in binding.sources], tile=binding.param)
    for value in values:
        assert value is not None
        _cap(module, launch, binding.param, value, tile, changes)


def _narrow_literal(
    module: Module, launch: Launch, binding: TileBinding, counts: tuple[Count, ...], tile: int, changes: Changes
) -> None:
    """A number at the launch, and the same number wherever the launcher divides the dimension by it. Raises Refuse."""
    value = binding.argument
    unclear = any(c.ambiguous for c in counts)
    if not isinstance(value, ast.Constant) or type(value.value) is not int or unclear:
        raise refuse("tile_unknown", launch.call, tile=binding.param)
    _require_narrower(launch, value, value.value, tile)
    changes.replace(module, value, str(tile))
    for count in counts:
        for division in divisions_by(module, launch, value if count.from_meta else count.tile, count.dimension):
            if not isinstance(division.tile, ast.Constant):
                raise refuse("tile_unknown", division.node, also=[launch.call], tile=binding.param)
            if division.floor or (isinstance(division.node, ast.Call) and division.node.args[-1] is division.tile):
                changes.replace(module, division.tile, str(tile))
            else:
                size = written(module, division.dimension)
                changes.replace(module, division.node, ceiling_text(module, size, str(tile), division.node))


def _cap(module: Module, launch: Launch, param: str, value: ast.expr, tile: int, changes: Changes) -> None:
    match value:
        case ast.Constant(value=int() as old):
            _require_narrower(launch, value, old, tile)
            changes.replace(module, value, str(tile))
        case ast.Call(func=ast.Name(id="min"), args=[one, other], keywords=[]):
            caps = _numbers(one, other)
            if len(caps) == 1:
                cap, most = caps[0]
                _require_narrower(launch, value, most, tile)
                changes.replace(module, cap, str(tile))
            else:
                changes.replace(module, value, f"min({tile}, {module.source.segment(value)})")
        case ast.Call(func=ast.Name(id="max"), args=[one, other], keywords=[]):
            floors = _numbers(one, other)
            if len(floors) != 1:
                raise refuse("tile_unknown", launch.call, also=[value], tile=param)
            floor, least = floors[0]
            if least > tile:
                why = f"the launcher takes no tile below {least}"
                raise refuse("bad_setting", value, setting="tile", value=tile, why=why)
            _cap(module, launch, param, other if floor is one else one, tile, changes)
        case ast.IfExp(body=body, orelse=orelse):
            _cap(module, launch, param, body, tile, changes)
            _cap(module, launch, param, orelse, tile, changes)
        case ast.Call(func=ast.Attribute(attr="next_power_of_2")):
            changes.replace(module, value, f"min({tile}, {module.source.segment(value)})")
        case _:
            raise refuse("tile_unknown", launch.call, also=[value], tile=param)


def _numbers(*nodes: ast.expr) -> list[tuple[ast.expr, int]]:
    """Those that are written as whole numbers, with their values."""
    return [(n, n.value) for n in nodes if isinstance(n, ast.Constant) and type(n.value) is int]


def _require_narrower(launch: Launch, value: ast.expr, old: int, tile: int) -> None:
    if old <= tile:
        raise refuse("already_applied", value, also=[launch.call], kernel=launch.kernel.name, skeleton="split_tiles")


PRIMITIVE = Primitive("split_tiles", split_tiles, NumericsClass.CONTRACTED, ("tile", "axis"))
