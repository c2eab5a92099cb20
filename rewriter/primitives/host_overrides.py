"""host_overrides: tile, launch options and new constexpr arguments of a launcher in one go.

rewrite:  cfg = TABLE[V]  ->  cfg = TABLE[V]; cfg = {**cfg, "BV": triton.next_power_of_2(V), "num_warps": 4}

The separate primitives insert at the same places (one call, one line after a dict); together they share them.

Numerics
    Those of the parts: see set_tile and set_launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..conditions.launch_sites import require_same_choice
from ..kernel.changes import merged
from ..kernel.definition import Module
from ..kernel.edits import Edit
from ..kernel.launch import Launch
from ..kernel.tile_text import TileChoice
from .pass_constexpr import constexpr_changes
from .set_launch import option_changes
from .set_tile import tile_changes


def host_overrides(
    module: Module,
    launches: Sequence[Launch],
    *,
    param: str | None = None,
    tile: TileChoice | None = None,
    axis: int | None = None,
    minimum: int = 1,
    options: Mapping[str, int] | None = None,
    constexprs: Mapping[str, str] | None = None,
) -> list[Edit]:
    """Edits for all of it. `param` and `tile` go together; `constexprs` maps new parameters to source text.

    Raises Refuse as set_tile, set_launch and pass_constexpr do.
    """
    require_same_choice(module, launches, param)
    parts = []
    if param is not None and tile is not None:
        parts.append(tile_changes(module, launches, param, tile, axis=axis, minimum=minimum))
    if options:
        parts.append(option_changes(module, launches, options))
    if constexprs:
        parts.append(constexpr_changes(module, launches, constexprs))
    return merged(parts).edits(module)
