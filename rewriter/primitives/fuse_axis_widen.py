"""fuse_axis_widen: give a tiled grid axis a wider tile, so that what all tiles compute alike is computed less often.

rewrite:  BV = 32                        ->  BV = triton.next_power_of_2(V)
          grid = (triton.cdiv(V, BV), B)     (unchanged: the grid follows the tile, and becomes (1, B))

The kernel itself does not change: every guard `i_v == 0`, mask and slot means for the wider tile what it meant before.

Conditions
    tiles_mergeable: every store is lane-addressed, guarded, invariant or a summed slot; every access along the lanes
    is bounded by the dimension or by a proved division; nothing else looks at the tile or its index.

Numerics
    `reassociated`: lanes and warps along the reduced dimensions change, and partial sums of slots are added in another
    order. In the interpreter, which knows no warps, lane outputs are equal to the bit.

Refuses with the codes of conditions/fusable_axis.py, mergeable.py and primitives/set_tile.py.
"""

from __future__ import annotations

from skel.store.schema import NumericsClass

from ..analysis.facts import analyse
from ..conditions.decoded_count import require_decoded_by_count
from ..conditions.fusable_axis import choose_axis
from ..conditions.mergeable import check_mergeable
from ..conditions.partial_sums import require_buffers_summed
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.tile_text import TileChoice
from ..reasons import refuse_all
from .base import Primitive
from .set_tile import set_tile


def fuse_axis_widen(
    module: Module, kernel: KernelDef, *, tile: int | str = "whole", axis: str | None = None
) -> list[Edit]:
    """Edits that widen the tile of the axis with the most redundant work (or of the axis called `axis`).

    `tile`: "whole" for the next power of two of the dimension, or a number of lanes.
    Raises Refuse.
    """
    context = choose_axis(analyse(module, kernel), axis)
    refuse_all(check_mergeable(context))
    number = int(context.axis.root) if context.axis.root.isdigit() else None
    choice: TileChoice = tile if isinstance(tile, int) else "whole"
    require_buffers_summed(context)
    require_decoded_by_count(context.facts, context.axis, context.tile, context.counts)
    return set_tile(module, context.launches, context.tile, choice, axis=number)


PRIMITIVE = Primitive("fuse_axis_widen", fuse_axis_widen, NumericsClass.REASSOCIATED, ("tile", "axis"))
