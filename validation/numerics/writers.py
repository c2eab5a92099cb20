"""Which program last stored each element, seen in the interpreter: what a wrong element is traced back to.

What is seen here decides nothing: it comes out of the candidate's own process, and is told, not believed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import trees
from .redzones import Arena

_MOST_BYTES = 16 << 20
"""Larger memories are not followed: a number is kept for each byte."""
_MOST_PLACES = 200_000
"""Stores of programs that are told apart; those after them are not followed."""


class Writers:
    """Follows the stores of one run into the memory of an arena."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._marks: dict[int, Any] = {}
        """By the address of a memory's data: the number of the last store to each byte, 0 where there was none."""
        self.outside: list[dict[str, Any]] = []
        """Stores into guard zones: `tensor`, `side`, and the first that did it."""

    def stored(self, pointers: Any, mask: Any) -> None:
        """A store was made through a block of pointers."""
        import numpy

        addresses = numpy.asarray(pointers.data)
        taken = numpy.broadcast_to(numpy.asarray(mask.data), addresses.shape).reshape(-1).astype(bool)
        addresses = addresses.reshape(-1)[taken]
        if not addresses.size:
            return
        number = self._number()
        size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
        low, high = int(addresses.min()), int(addresses.max()) + size
        for held in self._arena.extents():
            if held.low <= low and high <= held.high:
                self._mark(held.low, held.high, addresses, number)
                return
        for held in self._arena.extents():
            inside = addresses[(addresses >= held.low) & (addresses < held.high)]
            if inside.size:
                self._mark(held.low, held.high, inside, number)
        self._note_outside(addresses, size)

    def of(self, tensor: Any) -> Any:
        """The number of the store that last wrote each element of `tensor`; None where that was not followed."""
        import torch

        if tensor.layout != torch.strided:
            return None
        start = tensor.untyped_storage().data_ptr()
        held = next((one for one in self._arena.extents() if one.storage == start), None)
        if held is None or held.low not in self._marks:
            return None
        at = torch.zeros((), dtype=torch.int64)
        for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
            at = at.unsqueeze(-1) + torch.arange(size, dtype=torch.int64) * stride
        first = tensor.data_ptr() - held.low
        return torch.from_numpy(self._marks[held.low])[first + at * tensor.element_size()]

    def save(self, outputs: dict[str, Any], path: Path) -> None:
        """Writes what is known of these outputs."""
        import torch

        known = {name: self.of(leaf) for name, leaf in outputs.items() if isinstance(leaf, torch.Tensor)}
        places = [{"kernel": k, "program": list(p), "line": line} for k, p, line in self._numbers]
        numbers = {name: found for name, found in known.items() if found is not None}
        trees.save({"numbers": numbers, "places": places, "outside": self.outside}, path)

    def _mark(self, low: int, high: int, addresses: Any, number: int) -> None:
        import numpy

        if high - low > _MOST_BYTES or not number:
            return
        marks = self._marks.get(low)
        if marks is None:
            marks = self._marks[low] = numpy.zeros(high - low, dtype=numpy.int32)
        marks[addresses - low] = number

    def _note_outside(self, addresses: Any, size: int) -> None:
        known = {(one["tensor"], one["side"]) for one in self.outside}
        for address in (int(addresses.min()), int(addresses.max())):
            zone = self._arena.zone_at(address, address + size)
            if zone is not None and zone[:2] not in known:
                kernel, program, line = _place()
                self.outside.append(
                    {"tensor": zone[0], "side": zone[1], "kernel": kernel, "program": list(program), "line": line}
                )
                known.add(zone[:2])

    def _number(self) -> int:
        place = _place()
        if place not in self._numbers and len(self._numbers) >= _MOST_PLACES:
            return 0
        return self._numbers.setdefault(place, len(self._numbers) + 1)


@contextmanager
def watched_stores(arena: Arena) -> Iterator[Writers | None]:
    """Within: stores of interpreted kernels are followed. None where kernels are compiled."""
    if os.environ.get("TRITON_INTERPRET") != "1":
        yield None
        return
    from triton.runtime.interpreter import interpreter_builder

    builder: Any = interpreter_builder
    store, atomic = builder.create_masked_store, builder.create_atomic_rmw
    writers = Writers(arena)

    def follow_store(pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        writers.stored(pointers, mask)
        return store(pointers, value, mask, *rest)

    def follow_atomic(operation: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        writers.stored(pointers, mask)
        return atomic(operation, pointers, value, mask, *rest)

    builder.create_masked_store, builder.create_atomic_rmw = follow_store, follow_atomic
    try:
        yield writers
    finally:
        builder.create_masked_store, builder.create_atomic_rmw = store, atomic


def _place() -> tuple[str, tuple[int, ...], int]:
    """Kernel, program and line of the store that is being made: the innermost line outside triton, and the outermost
    function that the interpreter called."""
    from triton.runtime import interpreter

    folder = str(Path(interpreter.__file__).parents[1])
    line, kernel, frame = 0, "", sys._getframe(1)
    while frame is not None and not (frame.f_code.co_filename == interpreter.__file__ and kernel):
        if not frame.f_code.co_filename.startswith((folder, __file__)):
            line = line or frame.f_lineno
            kernel = frame.f_code.co_name
        frame = frame.f_back  # type: ignore[assignment]
    return kernel, tuple(map(int, interpreter.interpreter_builder.grid_idx)), line
