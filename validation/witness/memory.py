"""Memory that is not there: every pointer has a range of addresses for itself, and values are made when they are read.

Nothing is allocated, so an offset past 2^31 elements costs what any other does, and an access outside a tensor ends
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SPACING = 44
"""Bits of address that each pointer has for itself; it points to the middle."""


@dataclass(frozen=True, slots=True)
class Access:
    """The active lanes of one load, store or atomic: element offsets, and the values read or written."""

    program: tuple[int, int, int]
    line: int
    kind: str
    tensor: str
    offsets: Any
    values: Any


@dataclass
class Memory:
    """The tensors of one launch. `kinds` says `float` or `int` of each; `index` is what ints hold, else their place."""

    kinds: dict[str, str]
    index: int | None = None
    wide: bool = False
    """Integers are held in 64 bits, whatever their type."""
    program: tuple[int, int, int] = (0, 0, 0)
    accesses: list[Access] = field(default_factory=list)
    wrapped: set[int] = field(default_factory=set)
    """Lines at which a 32-bit product wrapped."""
    written: dict[str, dict[int, Any]] = field(default_factory=dict)

    def address(self, name: str) -> int:
        """Where the tensor begins."""
        return ((list(self.kinds).index(name) + 1) << SPACING) + (1 << (SPACING - 1))

    def load(self, addresses: Any, mask: Any, width: int, line: int, other: Any, dtype: Any) -> Any:
        """What masked lanes read; the others are `other`."""
        import numpy

        found = numpy.array(other, dtype=numpy.int64 if self.wide and dtype.kind in "iu" else dtype)
        for name, lanes, offsets in self._places(addresses, mask, width):
            values = self._content(name, offsets, dtype)
            for i, offset in enumerate(offsets):
                if int(offset) in (held := self.written.get(name, {})):
                    values[i] = held[int(offset)]
            found[lanes] = values
            self.accesses.append(Access(self.program, line, "load", name, offsets, values))
        return found

    def store(self, addresses: Any, mask: Any, values: Any, width: int, line: int, kind: str = "store") -> None:
        """Masked lanes write, the last of two to one place wins."""
        for name, lanes, offsets in self._places(addresses, mask, width):
            new = values[lanes]
            self.written.setdefault(name, {}).update(zip(map(int, offsets), new, strict=True))
            self.accesses.append(Access(self.program, line, kind, name, offsets, new))

    def _places(self, addresses: Any, mask: Any, width: int) -> list[tuple[str, Any, Any]]:
        """By tensor: its lanes, and their offsets in elements."""
        import numpy

        mask = numpy.broadcast_to(mask, addresses.shape).astype(bool)
        regions = addresses >> numpy.uint64(SPACING)
        found = []
        for name in self.kinds:
            base = self.address(name)
            lanes = mask & (regions == numpy.uint64(base >> SPACING))
            if lanes.any():
                found.append((name, lanes, (addresses[lanes].astype(numpy.int64) - base) // width))
        if sum(int(lanes.sum()) for _, lanes, _ in found) != int(mask.sum()):
            raise IndexError("an address lies in no tensor")
        return found

    def _content(self, name: str, offsets: Any, dtype: Any) -> Any:
        """Floats between 0.25 and 1.25, different from place to place; integers are their place."""
        import numpy

        if dtype.kind == "f":
            scattered = (offsets.astype(numpy.uint64) * numpy.uint64(2654435761)) >> numpy.uint64(7)
            return (0.25 + (scattered & numpy.uint64(0xFFFF)).astype(numpy.float64) / 65536).astype(dtype)
        if dtype.kind == "b":
            return numpy.ones(offsets.shape, dtype)
        held = offsets if self.index is None else numpy.full(offsets.shape, self.index)
        return held.astype(numpy.int64 if self.wide else dtype)
