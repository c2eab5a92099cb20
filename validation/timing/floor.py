"""The least that a kernel must move: which bytes its launches read and write, found by changing memory and looking.

A tensor is not taken for read because it is passed: of a cache only the part in use is touched, and a floor that is too
high would call an honest candidate impossible. Each part of a tensor is changed by itself; it was read where anything
that the launches write comes out different. Integers are not changed, since they may be indices: they count as read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .memory import Pool, touched_tensors
from .recording import Launch
from .timers import Timer
from .variants import Run

if TYPE_CHECKING:
    import torch


def traffic(run: Run, timer: Timer, chunks: int) -> dict[str, Any]:
    """Bytes read and written by one pass, by a lower estimate; `steady` is False where two passes gave other results.

    Then, and for integers, tensors count as read whole, and those that are written not at all.
    """
    import torch

    pool = Pool(run.recorded, run.launches, 2)
    steps = [pool.place(launch, 0) for launch in run.launches]
    tensors = list(touched_tensors(run.launches).values())
    after = _results(pool, steps, tensors, timer)
    changed = [not torch.equal(_raw(now), _raw(pool.view(one, 1))) for one, now in zip(tensors, after, strict=True)]
    written = sum(
        int((_raw(now) != _raw(pool.view(one, 1))).sum()) * _granule(one)
        for one, now, differs in zip(tensors, after, changed, strict=True) if differs
    )
    targets = [one for one, differs in zip(tensors, changed, strict=True) if differs]
    expected = [now.clone() for now, differs in zip(after, changed, strict=True) if differs]
    again = _results(pool, steps, targets, timer)
    steady = all(torch.equal(_raw(a), _raw(b)) for a, b in zip(again, expected, strict=True))
    probe = _Probe(pool, steps, targets, expected, timer)
    read = 0
    for one, differs in zip(tensors, changed, strict=True):
        size = one.numel() * one.element_size()
        if not one.is_floating_point() or not steady:
            read += 0 if differs else size
        else:
            parts = (length for start, length in _parts(one, chunks) if probe.reads(one, start, length))
            read += sum(parts) * _granule(one)
    return {"bytes_read": read, "bytes_written": written, "steady": steady}


class _Probe:
    """Changes a part of a tensor, runs a pass, and looks whether what is written changes."""

    def __init__(
        self,
        pool: Pool,
        steps: Sequence[Launch],
        targets: list[torch.Tensor],
        expected: list[torch.Tensor],
        timer: Timer,
    ) -> None:
        self._pool, self._steps, self._targets, self._expected, self._timer = pool, steps, targets, expected, timer

    def reads(self, tensor: torch.Tensor, start: int, length: int) -> bool:
        """True where elements `start` to `start + length`, as they lie in memory, matter."""
        return any(self._matters(tensor, start, length, change) for change in (_to_nan, _to_other))

    def _matters(self, tensor: torch.Tensor, start: int, length: int, change: Any) -> bool:
        import torch

        for target in self._targets:
            self._pool.view(target, 0).copy_(self._pool.view(target, 1))
        part = _flat(self._pool.view(tensor, 0))[start : start + length]
        kept = part.clone()
        change(part)
        for step in self._steps:
            step()
        self._timer.synchronize()
        differs = any(
            not torch.equal(_raw(self._pool.view(target, 0)), _raw(right))
            for target, right in zip(self._targets, self._expected, strict=True)
        )
        part.copy_(kept)
        return differs


def _results(pool: Pool, steps: Sequence[Launch], tensors: Sequence[torch.Tensor], timer: Timer) -> list[torch.Tensor]:
    pool.fill()
    for step in steps:
        step()
    timer.synchronize()
    return [pool.view(tensor, 0) for tensor in tensors]


def _parts(tensor: torch.Tensor, chunks: int) -> list[tuple[int, int]]:
    """The tensor's elements in memory order, in at most `chunks` parts: first element and number of each."""
    total = _flat(tensor).numel()
    size = max(1, -(-total // chunks))
    return [(start, min(size, total - start)) for start in range(0, total, size)]


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    """The memory from the first to the last element, gaps of strided tensors included, as one row."""
    import torch

    extent = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return torch.as_strided(tensor, (extent if tensor.numel() else 0,), (1,), tensor.storage_offset())


def _raw(tensor: torch.Tensor) -> torch.Tensor:
    """The elements as integers of their width: NaN equals itself."""
    import torch

    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    width = kinds.get(tensor.element_size())
    return tensor.view(width) if width is not None and not tensor.is_complex() else torch.view_as_real(tensor)


def _granule(tensor: torch.Tensor) -> int:
    return int(tensor.element_size())


def _to_nan(part: torch.Tensor) -> None:
    part.fill_(float("nan"))


def _to_other(part: torch.Tensor) -> None:
    """Other finite values, for kernels in which a maximum hides NaN."""
    part.mul_(-3.0).add_(1.0)
