"""divide_grid: let each program take several tiles, by dividing the grid's number of tiles.

rewrite:  (triton.cdiv(V, BV), B)  ->  (triton.cdiv(V, BV * 2), B)

Numerics
    `bitwise` by itself; the kernel must walk the tiles that its program now has.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..conditions.launch_sites import counted_axis
from ..kernel.changes import Changes
from ..kernel.count import Count, reads_of
from ..kernel.definition import Module
from ..kernel.edits import Edit
from ..kernel.grid import read_grid
from ..kernel.idioms import ceiling_text
from ..kernel.launch import Launch
from ..kernel.scope import within
from ..reasons import refuse


def divide_grid(
    module: Module, launches: Sequence[Launch], param: str, factor: int | str | None, *, axis: int | None = None
) -> list[Edit]:
    """Edits that divide, rounding up, the number of `param`'s tiles in the grid of every launch.

    Only the grid changes: a buffer with one slot a tile, sized by the same name, keeps its size. `factor` is a number
    or a name that the launcher has; None for all of them, which leaves one.

    Raises Refuse: unreadable_launch, grid_not_tied_to_tile, tile_shared where the count or the grid serves others.
    """
    changes = Changes()
    for launch in launches:
        if launch.others:
            raise refuse(
                "unreadable_launch",
                launch.call,
                kernel=launch.kernel.name,
                why=f"the same call may launch {', '.join(launch.others)}",
            )
        _, counts = counted_axis(module, launch, param, axis)
        for count in counts:
            _require_own_product(module, launch, param, count)
            _divide(module, count, None if factor is None else str(factor), changes)
    changes.spans = list(dict.fromkeys(changes.spans))
    return changes.edits(module)


def _divide(module: Module, count: Count, factor: str | None, changes: Changes) -> None:
    """Only insertions, so that the tile itself may be replaced in the same step."""
    start, end = module.source.span(count.use_node)
    if factor is None:
        changes.spans.append(Edit(start, end, "1"))
        return
    if count.use_node is count.count_node and isinstance(count.count_node, ast.Call) and _last_argument(count):
        tile_start, tile_end = module.source.span(count.tile)
        if isinstance(count.tile, ast.Name | ast.Constant | ast.Attribute | ast.Subscript | ast.Call):
            changes.spans.append(Edit(tile_end, tile_end, f" * {factor}"))
        else:
            changes.spans += [Edit(tile_start, tile_start, "("), Edit(tile_end, tile_end, f") * {factor}")]
        return
    before, after = ceiling_text(module, "\0", factor, count.use_node).split("\0")
    changes.spans += [Edit(start, start, before), Edit(end, end, after)]


def _last_argument(count: Count) -> bool:
    return isinstance(count.count_node, ast.Call) and count.count_node.args[-1] is count.tile


def _require_own_product(module: Module, launch: Launch, param: str, count: Count) -> None:
    """A product that holds the count (`n = NV * B`) may be edited only where it is read by this grid alone."""
    grids = [c.node for c in read_grid(module, launch).choices]
    outer = list(count.outer)
    inside = [b.value for b in count.bindings if b.value is not None]
    for binding in outer:
        for node in reads_of(module, (binding,), launch.function):
            if not any(within(module.source, node, place) for place in (*grids, *inside)):
                raise refuse(
                    "tile_shared",
                    node,
                    also=[launch.call],
                    tile=param,
                    what=f"`{node.id}` outside the grid",
                    line=node.lineno,
                )
