"""Loads past the end of a tensor, seen in the interpreter by their addresses.

What such a load finds may never reach the result, and where the memory is somebody's it faults nothing; elsewhere the
same load ends the process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .redzones import Arena


@contextmanager
def watched_reads(arena: Arena) -> Iterator[dict[tuple[str, str], int]]:
    """Within: loads of interpreted kernels from the guard zones of `arena`, as (tensor, side) and the largest distance
    in bytes. Empty where kernels are compiled."""
    found: dict[tuple[str, str], int] = {}
    if os.environ.get("TRITON_INTERPRET") != "1":
        yield found
        return
    from triton.runtime.interpreter import interpreter_builder

    builder: Any = interpreter_builder
    original = builder.create_masked_load

    def load(ptrs: Any, mask: Any, *rest: Any) -> Any:
        _look(arena, ptrs, mask, found)
        return original(ptrs, mask, *rest)

    builder.create_masked_load = load
    try:
        yield found
    finally:
        builder.create_masked_load = original


def _look(arena: Arena, ptrs: Any, mask: Any, found: dict[tuple[str, str], int]) -> None:
    import numpy

    addresses = numpy.asarray(ptrs.data).reshape(-1)
    taken = numpy.broadcast_to(numpy.asarray(mask.data), numpy.shape(ptrs.data)).reshape(-1).astype(bool)
    addresses = addresses[taken]
    if not addresses.size:
        return
    size = max(1, ptrs.get_element_ty().primitive_bitwidth // 8)
    low, high = int(addresses.min()), int(addresses.max()) + size
    if arena.holds(low, high):
        return
    for address in map(int, numpy.unique(addresses)):
        if (zone := arena.zone_at(address, address + size)) is not None:
            name, side, away = zone
            found[(name, side)] = max(found.get((name, side), 0), away)
