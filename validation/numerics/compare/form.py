"""Shape and dtype must be equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def shape_difference(candidate: torch.Tensor, expected: torch.Tensor) -> dict[str, str] | None:
    """Both shapes where they differ."""
    if candidate.shape == expected.shape:
        return None
    return {"candidate": str(list(candidate.shape)), "reference": str(list(expected.shape))}


def dtype_difference(candidate: torch.Tensor, expected: torch.Tensor) -> dict[str, str] | None:
    """Both dtypes where they differ."""
    if candidate.dtype == expected.dtype:
        return None
    return {
        "candidate": str(candidate.dtype).removeprefix("torch."),
        "reference": str(expected.dtype).removeprefix("torch."),
    }
