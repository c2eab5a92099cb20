"""NaN and infinities must stand at the same places and be of the same kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .places import index_of

if TYPE_CHECKING:
    import torch


def nonfinite_difference(candidate: torch.Tensor, expected: torch.Tensor) -> dict[str, Any] | None:
    """The first element where one is NaN, +inf or -inf and the other is not the same. Integers never differ."""
    wrong = _kind(candidate) != _kind(expected)
    count = int(wrong.sum())
    if not count:
        return None
    first = int(wrong.reshape(-1).nonzero()[0])
    return {
        "candidate": str(candidate.reshape(-1)[first].item()),
        "reference": str(expected.reshape(-1)[first].item()),
        "index": index_of(first, candidate.shape),
        "count": count,
    }


def _kind(values: torch.Tensor) -> torch.Tensor:
    """0 finite, 1 NaN, 2 +inf, 3 -inf."""
    import torch

    wide = values.double()
    return (
        torch.isnan(wide).to(torch.int8)
        + 2 * torch.isposinf(wide).to(torch.int8)
        + 3 * torch.isneginf(wide).to(torch.int8)
    )
