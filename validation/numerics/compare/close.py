"""Closeness within the tolerance of a numerics class: |c - r| <= atol + rtol |r|, atol = rtol RMS(r)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...protocol import Correctness
from .places import index_of

if TYPE_CHECKING:
    import torch


def close_difference(candidate: torch.Tensor, expected: torch.Tensor, rtol: float) -> dict[str, Any] | None:
    """Finite elements outside the tolerance: how many, the first and the worst place, the values there.

    Non-finite elements are left to `nonfinite_difference`; RMS is taken over the finite elements of `expected`.
    """
    import torch

    wanted, got = expected.double(), candidate.double()
    finite = torch.isfinite(wanted) & torch.isfinite(got)
    atol = rtol * root_mean_square(wanted)
    distance = torch.where(finite, (got - wanted).abs(), torch.zeros_like(wanted))
    allowed = atol + rtol * wanted.abs()
    wrong = finite & (distance > allowed)
    count = int(wrong.sum())
    if not count:
        return None
    excess = torch.where(wrong, distance - allowed, torch.full_like(distance, -1.0)).reshape(-1)
    worst, first = int(excess.argmax()), int(wrong.reshape(-1).nonzero()[0])
    return {
        "count": count,
        "total": candidate.numel(),
        "index": index_of(worst, candidate.shape),
        "first_index": index_of(first, candidate.shape),
        "candidate": candidate.reshape(-1)[worst].item(),
        "reference": expected.reshape(-1)[worst].item(),
        "rtol": rtol,
        "atol": atol,
    }


def root_mean_square(values: torch.Tensor) -> float:
    """RMS of the finite elements; 0 where there is none."""
    import torch

    finite = values.double()[torch.isfinite(values)]
    return float(finite.square().mean().sqrt()) if finite.numel() else 0.0


def tolerance(dtype: str, reordered: bool, numbers: Correctness) -> float:
    """rtol for an output of that dtype (`float32`, `bfloat16`, ...); 0 for integers and booleans, which must be equal.

    `reordered` says that sums may be taken in another order.
    """
    table = {
        "float64": numbers.rtol_float64,
        "float32": numbers.rtol_float32_reordered if reordered else numbers.rtol_float32,
        "float16": numbers.rtol_float16,
        "bfloat16": numbers.rtol_bfloat16,
        "float8_e4m3fn": numbers.rtol_float8_e4m3,
        "float8_e4m3fnuz": numbers.rtol_float8_e4m3,
        "float8_e5m2": numbers.rtol_float8_e5m2,
        "float8_e5m2fnuz": numbers.rtol_float8_e5m2,
    }
    return table.get(dtype, 0.0)
