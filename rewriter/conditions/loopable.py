"""tiles_loopable: one program may walk several tiles, one after the other, each as it was.

Weaker than `tiles_mergeable`: every tile keeps its size and runs its own statements, so reductions inside a tile and
exact unmasked divisions stay right. What remains is what tiles do to each other: memory that one writes and another
reads, barriers, exits that differ between tiles, calls that may do anything.
"""

from __future__ import annotations

from skel.store.schema import Refusal

from ..analysis.stores import StoreClass, place_name
from ..reasons import refusal
from .context import FusionContext

BETWEEN_TILES = frozenset(
    {
        "inplace_not_separated",
        "unguarded_invariant_store",
        "atomic_not_separated",
        "grid_barrier",
        "opaque_call",
        "tile_dependent_exit",
        "unknown_construct",
    }
)
"""Refusals of the lane report that a loop over tiles shares with wider tiles."""


def check_loopable(context: FusionContext) -> list[Refusal]:
    """Every reason against walking tiles in a loop."""
    return [r for r in context.lanes.refusals if r.code in BETWEEN_TILES]


def check_rereads(context: FusionContext) -> list[Refusal]:
    """Memory that the first tile (or every tile) writes at one place, and that later tiles would read back.

    Separate programs all read before the first of them writes, in practice; in a loop the second tile reads what the
    first has written.
    """
    shared = (StoreClass.GUARDED, StoreClass.INVARIANT, StoreClass.SLOT)
    found: list[Refusal] = []
    for classified in context.lanes.stores:
        store = classified.access
        if classified.store_class not in shared or store.kind != "store":
            continue
        for load in context.facts.loads:
            if store.pointer.bases & load.pointer.bases:
                found.append(
                    refusal(
                        "inplace_not_separated", store.line, also=[load.line], axis=context.name, name=place_name(store)
                    )
                )
                break
    return found
