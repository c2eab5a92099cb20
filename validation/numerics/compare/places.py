"""Places in a tensor, in words."""

from __future__ import annotations

from collections.abc import Sequence


def index_of(flat: int, shape: Sequence[int]) -> str:
    """The index of the element at position `flat` of a contiguous tensor: `[2, 17]`."""
    index = []
    for size in reversed(shape):
        index.append(flat % size)
        flat //= size
    return str(index[::-1])
