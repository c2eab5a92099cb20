"""Refusals about the axis that is fused or split, and its tile."""

from .code import refusal

AXIS = (
    refusal(
        "no_tiled_axis",
        "{kernel} has no grid axis that walks tiles of a dimension",
        "V-tile fusion needs `program_id * TILE + arange(TILE)`",
    ),
    refusal(
        "axis_by_flag",
        "{tile} is walked by {held} where {flag} holds and by {otherwise} elsewhere: no one axis is fused for every launch",
        "specialise the kernel on {flag}, or launch it with one value of it",
    ),
    refusal(
        "no_redundant_work",
        "nothing that {axis} leaves unchanged is worth fusing: no reduction, transcendental or dot repeats per tile",
        "fusing would only lower parallelism",
    ),
    refusal("single_tile", "the launcher always gives one tile along {axis}", "there is nothing to fuse"),
    refusal(
        "axis_used_otherwise",
        "{axis} is used other than as a tile offset, a slot index or a guard",
        "the tile index itself is part of the result; rewrite it in terms of the offsets first",
    ),
    refusal(
        "tile_used_otherwise",
        "{tile} is used other than as the size of a tile",
        "the tile's size itself is part of the result",
    ),
    refusal(
        "reduction_over_tile_axis",
        "{op} over the lanes of {axis} makes the result depend on the tile: a wider tile is another result",
        "loop_tiles keeps the tile; hoist_producer moves the shared work out",
    ),
    refusal(
        "nonlinear_partial",
        "a partial over the lanes of {axis} is used non-linearly before the partials are summed",
        "right only at one tile; compare with a reference",
    ),
    refusal(
        "partial_not_summed",
        "partials over {axis} are stored per tile in {name}, but the host does not sum them over the tiles",
        "sum the slots on the host, or keep the tile",
    ),
    refusal(
        "unguarded_invariant_store",
        "every tile along {axis} stores to the same place ({name}) a value that may differ between tiles",
        "guard the store with `if {axis} == 0`, or show that the value is the same",
    ),
    refusal(
        "atomic_invariant",
        "an atomic of a value that {axis} leaves unchanged runs once per tile; fused it would run fewer times",
        "guard it with `if {axis} == 0` if it was meant to run once",
    ),
    refusal(
        "atomic_not_separated",
        "an atomic that the tiles of {axis} do not separate",
        "only adds of values linear in the lanes can be merged",
    ),
    refusal(
        "inplace_not_separated",
        "memory at {name} is read and written at a place that all tiles of {axis} share",
        "each tile would see the other's result; separate the tiles' places first",
    ),
    refusal(
        "tile_dependent_exit",
        "the kernel leaves early under a condition that differs between tiles of {axis}",
        "turn the exit into a mask",
    ),
    refusal(
        "exit_between_tiles",
        "the kernel may leave at line {line}, after or in the middle of work on a tile of {axis}: a loop over tiles would leave the other tiles out",
        "use the widen form, which has one tile; or move the exit above all that depends on {axis}",
    ),
    refusal(
        "grid_barrier",
        "{axis} takes part in a grid barrier or reads num_programs",
        "tiles that wait for each other cannot be merged",
    ),
    refusal(
        "non_pow2_unmasked",
        "an access along {axis} has no bounds check, and {dim} need not be a multiple of the wider tile",
        "add a mask `offset < {dim}`, or use loop_tiles, which keeps the tile",
    ),
    refusal(
        "lane_order_unknown", "the lanes of {axis} cannot be followed through {op}", "skel refuses what it cannot prove"
    ),
    refusal("unknown_construct", "{construct} is not understood here", "skel refuses what it cannot prove"),
    refusal(
        "inline_assembly",
        "the kernel holds inline assembly, whose effects cannot be read",
        "skel refuses what it cannot prove",
    ),
    refusal(
        "opaque_call",
        "{callee} is called with values that matter here and its source was not found",
        "put the helper in the same file or package",
    ),
    refusal(
        "loop_carried_across_tiles",
        "a tile loop would stand outside the time loop at line {line}: the shared work inside it would still repeat",
        "use the widen form, which keeps all tiles' states inside the loop",
    ),
    refusal(
        "carried_across_tiles",
        "{name} would carry a value from one tile to the next",
        "give each tile a name of its own",
    ),
    refusal(
        "nothing_to_hoist",
        "all work in {kernel} depends on {axis}; a loop over tiles would share nothing",
        "there is nothing to gain from a loop",
    ),
)
