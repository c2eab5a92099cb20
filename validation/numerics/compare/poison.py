"""Poison that is still there: memory of the candidate that was handed back and never written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..redzones import POISON_FLOAT, POISON_INT
from .places import index_of

if TYPE_CHECKING:
    import torch


def unwritten(candidate: torch.Tensor, expected: torch.Tensor) -> dict[str, Any] | None:
    """Elements that hold the poison's bits where `expected` holds something else: how many, and the first."""
    import torch

    if candidate.dtype == torch.bool or not candidate.numel():
        return None
    wrong = poisoned(candidate).reshape(-1) & (_bytes(candidate) != _bytes(expected)).any(1)
    count = int(wrong.sum())
    return {"count": count, "index": index_of(int(wrong.nonzero()[0]), candidate.shape)} if count else None


def poisoned(values: torch.Tensor) -> torch.Tensor:
    """By element, in the same shape: whether it holds the poison's bits. False for booleans, which have none."""
    import torch

    if values.dtype == torch.bool or not values.numel():
        return torch.zeros(values.shape, dtype=torch.bool, device=values.device)
    fill = POISON_FLOAT if values.is_floating_point() or values.is_complex() else POISON_INT
    return (_bytes(values) == fill).all(1).reshape(values.shape)


def _bytes(values: torch.Tensor) -> torch.Tensor:
    """One row of bytes an element."""
    import torch

    return values.contiguous().reshape(-1).view(torch.uint8).reshape(values.numel(), -1)
