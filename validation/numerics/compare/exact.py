"""Equality to the bit: for the class `bitwise`, for integers and for booleans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .places import index_of

if TYPE_CHECKING:
    import torch


def exact_difference(candidate: torch.Tensor, expected: torch.Tensor) -> dict[str, Any] | None:
    """Elements that are not equal (`torch.equal`; two NaN count as equal): how many, the first, its values."""
    import torch

    if torch.equal(candidate, expected):
        return None
    wrong = candidate != expected
    if candidate.is_floating_point():
        wrong &= ~(candidate.isnan() & expected.isnan())
    count = int(wrong.sum())
    if not count:
        return None
    first = int(wrong.reshape(-1).nonzero()[0])
    return {
        "count": count,
        "total": candidate.numel(),
        "index": index_of(first, candidate.shape),
        "first_index": index_of(first, candidate.shape),
        "candidate": candidate.reshape(-1)[first].item(),
        "reference": expected.reshape(-1)[first].item(),
    }
