"""Hazards: places that are wrong under some input or tile. Never reported as bugs: nothing was run."""

from __future__ import annotations

from collections.abc import Callable

from skel.store.schema import Finding

from ..view import KernelView
from . import in_place, offsets, same_value, tile_dependence, unmasked

HAZARDS: tuple[Callable[[KernelView], list[Finding]], ...] = (
    offsets.hazards,
    same_value.hazards,
    tile_dependence.hazards,
    unmasked.hazards,
    in_place.hazards,
)
"""Every check, in the order of its findings."""
