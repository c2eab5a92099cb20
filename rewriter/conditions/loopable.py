"""tiles_loopable: one program may walk several tiles, one after the other, each as it was.

Weaker than `tiles_mergeable`: every tile keeps its size and runs its own statements, so reductions inside a tile and
exact unmasked divisions stay right. What remains is what tiles do to each other: memory that one writes and another
reads, barriers, exits that differ between tiles, calls that may do anything.
"""

from __future__ import annotations

from skel.store.schema import Refusal

from ..analysis.stores import Classified, StoreClass, is_guarded, place_name
from ..analysis.value import Value
from ..reasons import refusal
from .aliases import aliases_of
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
    shared = (_shared(context, c) for c in context.lanes.stores if c.store_class is StoreClass.OTHER)
    found = [r for r in context.lanes.refusals if r.code in BETWEEN_TILES] + [r for r in shared if r is not None]
    return list(dict.fromkeys(found))


def _shared(context: FusionContext, classified: Classified) -> Refusal | None:
    """A store of every tile to one place, whatever else is wrong with it: the last tile would win."""
    store, value = classified.access, classified.access.value
    if store.kind != "store" or store.pointer.depends_on(context.axis) or is_guarded(store, context.axis):
        return None
    if value is None or value.depends_on(context.axis):
        return refusal("unguarded_invariant_store", store.line, axis=context.name, name=place_name(store))
    return None


def check_rereads(context: FusionContext) -> list[Refusal]:
    """Memory that the first tile (or every tile) writes at one place, and that later tiles would read back.

    Separate programs all read before the first of them writes, in practice; in a loop the second tile reads what the
    first has written.
    """
    shared = (StoreClass.GUARDED, StoreClass.INVARIANT, StoreClass.SLOT)
    found: list[Refusal] = []
    aliases = aliases_of(context.module, context.launches)

    def memory(value: Value) -> set[str]:
        return {aliases.get(base, base) for base in value.bases}

    for classified in context.lanes.stores:
        store = classified.access
        if classified.store_class not in shared or store.kind != "store":
            continue
        for load in context.facts.loads:
            if memory(store.pointer) & memory(load.pointer):
                found.append(
                    refusal(
                        "inplace_not_separated", store.line, also=[load.line], axis=context.name, name=place_name(store)
                    )
                )
                break
    return found
