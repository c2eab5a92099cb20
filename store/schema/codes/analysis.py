"""Findings of the analysis and of search."""

from .code import finding

ANALYSIS = (
    # findings of analysis
    finding(
        "same_value_store",
        "tiles along {axis} store the same value to {name} without a guard",
        "harmless while the values agree; guard it to be safe",
    ),
    finding(
        "shared_store",
        "tiles along {axis} store to the same place in {name} values that follow from the tile; the last one stays",
        "guard the store with the tile that is meant, or give each tile a place of its own",
    ),
    finding(
        "tile_dependence",
        "the result of {name} depends on the tile along {axis}",
        "may be meant (a grouped statistic); a reference tells",
    ),
    finding(
        "offset_may_overflow",
        "the offset at line {line} is a 32-bit product of a runtime index and a stride; past 2^31 elements it wraps",
        "int64_offsets widens the index",
    ),
    finding(
        "unmasked_access", "no mask covers {axis} at line {line}", "right only while the tile divides the dimension"
    ),
    finding("inplace_shared", "{name} is read and written in place where all tiles of {axis} share it: a tile may read what another has written", "let one tile own the update, or write to another buffer"),
    finding("candidate_refused", "{candidate}: {why}", "another form or tile may fit"),
    finding("tile_kept_by_launcher", "the launcher caps the tile with {expression}", "the cap moves with the tile"),
    # findings of search
    finding("language_not_understood", "the query is in {language}, which search does not understand", "ask in English or Chinese"),
)
