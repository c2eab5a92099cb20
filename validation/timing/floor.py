"""The least that a kernel must move: which bytes its launches read and write, found by changing memory.

A tensor is not taken for read because it is passed: of a cache only the rows in use are touched, and a floor that is
too high would call an honest candidate impossible. Small pieces of each memory, spread at random, are changed one at a
time; a piece was read where anything that the launches write comes out different. The part of the pieces that were
read, less twice its standard error, is the part of the memory that counts. Integers are not changed, since they may be
indices.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .memory import Pool, touched_tensors
from .recording import Launch
from .timers import Timer
from .variants import Run

if TYPE_CHECKING:
    import torch

PIECE_BYTES = 64
"""Two sectors of device memory: nothing smaller is moved."""


def traffic(run: Run, timer: Timer, probes: int) -> dict[str, Any]:
    """Bytes read and written by one pass, by a lower estimate; `steady` is False where two passes gave other results.

    Then, and for integers, memory counts as read whole, and what is written counts as not read.
    """
    import torch

    pool = Pool(run.recorded, run.launches, 2)
    steps = [pool.place(launch, 0) for launch in run.launches]
    regions = _regions(list(touched_tensors(run.launches).values()))
    first = [now.clone() for now in _results(pool, steps, regions, timer)]
    before = [region.elements(pool, 1) for region in regions]
    differs = [now != was for now, was in zip(first, before, strict=True)]
    written = sum(int(mask.sum()) * region.width for region, mask in zip(regions, differs, strict=True))
    changed = [bool(mask.any()) for mask in differs]
    targets = [region for region, is_target in zip(regions, changed, strict=True) if is_target]
    expected = [now for now, is_target in zip(first, changed, strict=True) if is_target]
    again = _results(pool, steps, targets, timer)
    steady = all(torch.equal(one, other) for one, other in zip(again, expected, strict=True))
    probe = _Probe(pool, steps, targets, expected, timer)
    rng = random.Random(0)
    read = 0
    for region, is_target in zip(regions, changed, strict=True):
        if region.dtype is None or not steady:
            read += 0 if is_target else region.size
        else:
            read += int(region.size * _part_read(region, probe, probes, rng))
    return {"bytes_read": read, "bytes_written": written, "steady": steady}


@dataclass(frozen=True, slots=True)
class _Region:
    """The memory of one storage from the first to the last byte that an argument covers."""

    tensor: torch.Tensor
    """A tensor of that storage, which says where its copies are."""
    start: int
    stop: int
    """In bytes."""
    size: int
    """Bytes that arguments cover: gaps between rows are none of theirs."""
    dtype: Any
    """Of all arguments there where it is one floating-point type; None otherwise."""

    @property
    def width(self) -> int:
        """Bytes of what is compared: an element, or a byte."""
        return int(self.dtype.itemsize) if self.dtype is not None else 1

    def flat(self, pool: Pool, number: int) -> torch.Tensor:
        """The bytes in copy `number`."""
        return pool.flat(self.tensor, number)[self.start : self.stop]

    def elements(self, pool: Pool, number: int) -> torch.Tensor:
        """The elements as integers of their width: NaN equals itself."""
        import torch

        kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
        return self.flat(pool, number).view(kinds[self.width])


def _regions(tensors: Sequence[torch.Tensor]) -> list[_Region]:
    by_storage: dict[int, list[torch.Tensor]] = {}
    for tensor in tensors:
        if tensor.numel():
            by_storage.setdefault(tensor.untyped_storage().data_ptr(), []).append(tensor)
    return [_region(members) for members in by_storage.values()]


def _region(members: list[torch.Tensor]) -> _Region:
    width = members[0].element_size()
    starts = [one.storage_offset() * one.element_size() for one in members]
    stops = [start + _extent(one) * one.element_size() for start, one in zip(starts, members, strict=True)]
    size = min(sum(one.numel() * one.element_size() for one in members), max(stops) - min(starts))
    single = len({one.dtype for one in members}) == 1 and members[0].is_floating_point() and width in (1, 2, 4, 8)
    return _Region(members[0], min(starts), max(stops), size, members[0].dtype if single else None)


def _extent(tensor: torch.Tensor) -> int:
    """Elements from the first to the last, gaps of strided tensors included."""
    return int(1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)))


def _part_read(region: _Region, probe: _Probe, probes: int, rng: random.Random) -> float:
    """The part of the region that is read, by a lower estimate."""
    total = region.stop - region.start
    pieces = math.ceil(total / PIECE_BYTES)
    chosen = range(pieces) if pieces <= probes else sorted(rng.sample(range(pieces), probes))
    seen = [probe.reads(region, n * PIECE_BYTES, min((n + 1) * PIECE_BYTES, total)) for n in chosen]
    part = sum(seen) / len(seen)
    error = 0.0 if pieces <= probes else math.sqrt(part * (1 - part) / len(seen))
    # Gaps between rows are never read, and are not in the region's size either.
    return min(1.0, max(0.0, part - 2 * error) * total / region.size)


class _Probe:
    """Changes a piece of memory, runs a pass, and looks whether what is written changes."""

    def __init__(
        self,
        pool: Pool,
        steps: Sequence[Launch],
        targets: list[_Region],
        expected: list[torch.Tensor],
        timer: Timer,
    ) -> None:
        self._pool, self._steps, self._targets, self._expected, self._timer = pool, steps, targets, expected, timer

    def reads(self, region: _Region, start: int, stop: int) -> bool:
        """True where bytes `start` to `stop` of the region matter."""
        return any(self._matters(region, start, stop, change) for change in (_to_nan, _to_other))

    def _matters(self, region: _Region, start: int, stop: int, change: Any) -> bool:
        import torch

        for target in self._targets:
            target.flat(self._pool, 0).copy_(target.flat(self._pool, 1))
        piece = region.flat(self._pool, 0)[start:stop].view(region.dtype)
        kept = piece.clone()
        change(piece)
        for step in self._steps:
            step()
        self._timer.synchronize()
        # A changed piece that is neither read nor written stays changed, which says nothing of the launches.
        if not torch.equal(_bits(piece), _bits(kept)):
            unread = kept.clone()
            change(unread)
            if torch.equal(_bits(piece), _bits(unread)):
                piece.copy_(kept)
        differs = any(
            not torch.equal(target.elements(self._pool, 0), right)
            for target, right in zip(self._targets, self._expected, strict=True)
        )
        piece.copy_(kept)
        return differs


def _results(pool: Pool, steps: Sequence[Launch], regions: Sequence[_Region], timer: Timer) -> list[torch.Tensor]:
    pool.fill()
    for step in steps:
        step()
    timer.synchronize()
    return [region.elements(pool, 0) for region in regions]


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    import torch

    return tensor.view(torch.uint8)


def _to_nan(part: torch.Tensor) -> None:
    part.fill_(float("nan"))


def _to_other(part: torch.Tensor) -> None:
    """Other finite values, for kernels in which a maximum hides NaN."""
    part.mul_(-3.0).add_(1.0)
