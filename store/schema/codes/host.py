"""Refusals about the host side: launches, grids, configurations."""

from .code import refusal

HOST = (
    refusal(
        "grid_within_limits",
        "no axis of {kernel}'s grid but the first is a product of sizes known at run time",
        "an axis that is one size stays below 65,535 in practice; flatten it by hand where it does not",
    ),
    refusal(
        "grid_has_axes",
        "the grid of {kernel} has more than one axis, or its programs do not count one kind of work",
        "flatten the grid onto its first axis: reorder_grid does that where an axis may pass 65,535",
    ),
    refusal(
        "axis_flattened",
        "{axis} is taken out of a flattened program id: the grid has no dimension of its own for it",
        "give the axis a grid dimension of its own first",
    ),
    refusal(
        "producer_not_saved",
        "what repeats in every tile of {axis} ends in no value that a scratch can hold: fp32, of a known shape, set on every path",
        "cast the value to fp32 where it is made, and set it outside branches",
    ),
    refusal(
        "grid_not_tied_to_tile",
        "the grid's size along {axis} does not follow from the tile {tile}",
        "write the grid as cdiv(dimension, tile)",
    ),
    refusal(
        "tile_belongs_to_autotuner",
        "{tile} is chosen by autotune; its list may hold workarounds, so it is not widened silently",
        "add the wider configurations by hand, or pin the tile at the launch",
    ),
    refusal("tile_from_heuristic", "{tile} is computed by a heuristic", "set the tile at the launch"),
    refusal(
        "heuristic_reads_tile",
        "the heuristic {name} reads {tile} in a way that cannot be checked",
        "compute it from the tile with plain arithmetic",
    ),
    refusal(
        "tile_through_kwargs",
        "{tile} reaches the launch through **{name}, whose value cannot be followed",
        "pass the tile as a keyword",
    ),
    refusal(
        "tile_shared",
        "{tile} is also used for {what} (line {line}); changing it there changes something else",
        "give the kernel a tile name of its own",
    ),
    refusal(
        "tile_unknown",
        "the tile {tile} at the launch cannot be traced to an assignment, a literal or a table",
        "assign the tile in the launcher",
    ),
    refusal(
        "dtype_depends_on_tiles",
        "the launcher picks a dtype by the number of tiles (line {line}); merging tiles changes the rounding",
        "allocate in one dtype",
    ),
    refusal(
        "tile_must_divide",
        "the launcher divides {dimension} by {tile} without rounding up (line {line}), so the tile must divide it; a tile of the whole dimension need not",
        "round the grid up with cdiv and mask, or keep the tile and loop",
    ),
    refusal(
        "option_belongs_to_autotuner",
        "{option} of {kernel} is chosen by autotune; passing it at the launch as well raises",
        "add configurations by hand, or drop the autotuner",
    ),
    refusal(
        "option_through_kwargs",
        "{option} reaches the launch through **{name}, whose value cannot be followed",
        "pass the option as a keyword",
    ),
    refusal("no_autotuner", "{kernel} has no autotuner", "pass options at the launch, or add configurations by hand"),
    refusal(
        "autotune_not_listed",
        "the configurations or the key of {kernel} are not plain lists in its decorator",
        "lists that are shared, filtered or chosen by device may work around something: widen them by hand",
    ),
    refusal(
        "autotune_wide_enough",
        "the autotuner of {kernel} tries the warps around its own already, and its key holds every size",
        "nothing to do",
    ),
    refusal("no_such_option", "{setting} is no decision of {skeleton}; it has {have}", "use --set with one of those"),
    refusal("bad_setting", "{setting}={value}: {why}", "give a value that the kernel can take"),
)
