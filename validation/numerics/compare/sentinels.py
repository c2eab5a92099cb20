"""Deliberately wrong outputs. A comparison that lets one pass cannot tell right from wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...protocol import Correctness

if TYPE_CHECKING:
    import torch


def sentinels(right: torch.Tensor, numbers: Correctness) -> dict[str, torch.Tensor]:
    """Wrong outputs made of a right one, by name. One that happens to equal it is no sentinel and is left out, but
    for `zeros`: an output of zeros only is one that no check can vouch for."""
    import torch

    if not right.numel():
        return {}  # there is nothing in it that could be wrong
    made = {name: make(right, numbers) for name, make in _MAKERS.items()}
    return {
        name: wrong
        for name, wrong in made.items()
        if name == "zeros" or not torch.equal(torch.nan_to_num(wrong.double()), torch.nan_to_num(right.double()))
    }


def _zeros(right: torch.Tensor, numbers: Correctness) -> torch.Tensor:
    return right.new_zeros(right.shape)


def _mean(right: torch.Tensor, numbers: Correctness) -> torch.Tensor:
    """Every finite element replaced by their mean."""
    import torch

    finite = torch.isfinite(right.double())
    mean = right.double()[finite].mean() if finite.any() else torch.tensor(0.0, dtype=torch.float64)
    return torch.where(finite, mean, right.double()).to(right.dtype)


def _shuffled(right: torch.Tensor, numbers: Correctness) -> torch.Tensor:
    import torch

    order = torch.randperm(right.numel(), generator=torch.Generator().manual_seed(0))
    return right.reshape(-1)[order].reshape(right.shape)


def _last_part_missing(right: torch.Tensor, numbers: Correctness) -> torch.Tensor:
    """The last part of the last dimension is zero, as if the last tile had not been stored."""
    wrong = right.clone()
    if wrong.dim():
        size = wrong.shape[-1]
        wrong[..., size - max(1, int(size * numbers.last_part)) :] = 0
    return wrong


_MAKERS: dict[str, Callable[..., torch.Tensor]] = {
    "zeros": _zeros,
    "mean": _mean,
    "shuffled": _shuffled,
    "last tile missing": _last_part_missing,
}
