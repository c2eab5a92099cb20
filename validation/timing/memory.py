"""The memory that launches are replayed on: several copies of everything they touch, filled with what it held at first.

Rotating over copies of more than twice the L2 makes every launch find the cache cold; one copy over and over keeps it
warm. Copies are filled again between trials, outside the timed region, so that kernels that work in place start alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .recording import Launch, Recording

if TYPE_CHECKING:
    import torch


_ALIGNED = 512
"""Bytes: as torch's allocator aligns, so that a copy lies no better or worse than what it is a copy of."""


class Pool:
    """`copies` copies of the storages that a recording's launches touch. `place` moves launches onto one of them.

    All copies of a storage lie in one memory, so that they are filled in one go: of a small one there are thousands.
    """

    def __init__(self, recording: Recording, launches: Sequence[Launch], copies: int) -> None:
        import torch

        touched = {tensor.untyped_storage().data_ptr() for launch in launches for tensor in launch.tensors()}
        contents = {address: content for address, content in recording.contents.items() if address in touched}
        self._first = {address: _padded(content) for address, content in contents.items()}
        self._copies = copies
        self._memory = {
            address: torch.empty(copies, *content.shape, dtype=content.dtype, device=content.device)
            for address, content in self._first.items()
        }
        self.fill()

    def __len__(self) -> int:
        return self._copies

    def fill(self) -> None:
        """Every copy holds again what was there at the first launch."""
        for address, content in self._first.items():
            self._memory[address].copy_(content.expand_as(self._memory[address]))

    def fill_one(self, number: int) -> None:
        for address, content in self._first.items():
            self._memory[address][number].copy_(content)

    def place(self, launch: Launch, number: int) -> Launch:
        """The launch on copy `number`."""
        return launch.on(lambda tensor: self.view(tensor, number))

    def view(self, tensor: torch.Tensor, number: int) -> torch.Tensor:
        """The tensor's place in copy `number`. Raises KeyError for memory that no launch touches."""
        import torch

        copy = self._memory[tensor.untyped_storage().data_ptr()][number]
        offset = copy.storage_offset() * copy.element_size() // tensor.element_size() + tensor.storage_offset()
        return torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(
            copy.untyped_storage(), offset, tensor.shape, tensor.stride()
        )

    def flat(self, tensor: torch.Tensor, number: int) -> torch.Tensor:
        """All bytes of copy `number` of the storage that the tensor lies in, and the padding behind them."""
        import torch

        return self._memory[tensor.untyped_storage().data_ptr()][number].view(torch.uint8)

    def holds(self, tensor: torch.Tensor) -> bool:
        """True where a launch touches the tensor's memory."""
        return tensor.untyped_storage().data_ptr() in self._first


def _padded(content: torch.Tensor) -> torch.Tensor:
    """The bytes in words of 64 bits, with zeros up to the next aligned address."""
    import torch

    size = content.numel()
    padded = content if size % _ALIGNED == 0 else torch.nn.functional.pad(content, (0, -size % _ALIGNED))
    return padded.view(torch.int64)


def touched_tensors(launches: Sequence[Launch]) -> dict[tuple[Any, ...], torch.Tensor]:
    """The distinct tensors among the arguments, by place in memory."""
    found: dict[tuple[Any, ...], torch.Tensor] = {}
    for launch in launches:
        for tensor in launch.tensors():
            key = (tensor.untyped_storage().data_ptr(), tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
            found.setdefault((*key, str(tensor.dtype)), tensor)
    return found


def footprint(launches: Sequence[Launch]) -> int:
    """Bytes of the tensors that the launches are given, each memory counted once."""
    largest: dict[int, int] = {}
    for tensor in touched_tensors(launches).values():
        address = tensor.untyped_storage().data_ptr()
        size = tensor.numel() * tensor.element_size()
        largest[address] = min(largest.get(address, 0) + size, tensor.untyped_storage().nbytes())
    return sum(largest.values())


def copies_for(bytes_touched: int, l2_bytes: int, factor: float) -> int:
    """Copies over which launches rotate so that a memory comes round again after `factor` times the L2."""
    return max(2, math.ceil(factor * l2_bytes / max(1, bytes_touched)) + 1)

