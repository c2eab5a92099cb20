"""Copies of the memory behind a set of tensors: tensors of one storage stay views of one piece, alignment is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .numbers import ALIGNMENT

if TYPE_CHECKING:
    import torch


@dataclass(slots=True)
class Snapshot:
    """`tensors`: for each tensor its piece, dtype, shape, strides and offset (in elements, from the piece's start).
    `pieces`: flat copies, in bytes. `dtypes`: the dtype of a piece where all its tensors have one, else None."""

    tensors: list[dict[str, Any]]
    pieces: list[torch.Tensor]
    dtypes: list[str | None]
    storages: list[int]
    """Addresses of the storages that the pieces were copied from."""


def extent(tensor: torch.Tensor) -> int:
    """Elements from the tensor's first to its last, both counted."""
    if not tensor.numel():
        return 0
    last: int = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return last + 1


def snapshot(tensors: list[torch.Tensor]) -> Snapshot:
    """Copies what the tensors cover of each storage, on their own device."""
    import torch

    ranges: dict[int, tuple[int, int]] = {}
    for tensor in tensors:
        key = _address(tensor)
        low = tensor.storage_offset() * tensor.element_size()
        high = low + extent(tensor) * tensor.element_size()
        old = ranges.get(key, (low, high))
        ranges[key] = (min(old[0], low), max(old[1], high))
    order = {key: number for number, key in enumerate(ranges)}
    pieces: list[Any] = [None] * len(order)
    dtypes: list[Any] = ["" for _ in order]
    described = []
    with torch.no_grad():
        for tensor in tensors:
            number = order[_address(tensor)]
            low, high = ranges[_address(tensor)]
            low = low // ALIGNMENT * ALIGNMENT
            if pieces[number] is None:
                flat = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(
                    tensor.untyped_storage(), low, (high - low,), (1,)
                )
                pieces[number] = flat.clone()
            dtype = str(tensor.dtype).removeprefix("torch.")
            dtypes[number] = dtype if dtypes[number] in ("", dtype) else None
            described.append(
                {
                    "piece": number,
                    "dtype": dtype,
                    "shape": list(tensor.shape),
                    "stride": list(tensor.stride()),
                    "offset": tensor.storage_offset() - low // tensor.element_size(),
                    "device": tensor.device.type,
                }
            )
    return Snapshot(described, pieces, dtypes, list(order))


def _address(tensor: torch.Tensor) -> int:
    address: int = tensor.untyped_storage().data_ptr()
    return address
