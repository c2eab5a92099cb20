"""Value classes: what the floating-point inputs of a case hold, or how they lie. Everything else stays what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..protocol import Correctness
from .trees import map_tensors

if TYPE_CHECKING:
    import torch

VALUE_CLASSES = ("large", "small", "constant")
"""Those beside `normal` that every check runs."""
VALUE_CLASSES_FULL = (*VALUE_CLASSES, "zeros", "denormals", "infinite", "strided")
"""Those beside `normal` with `--full`."""


def apply_values(inputs: dict[str, Any], values: str, numbers: Correctness) -> dict[str, Any]:
    """`inputs` with their floating-point tensors changed as the class says; but for `strided` in place, so that views
    stay views. Raises KeyError for an unknown class.
    """
    import torch

    if values == "normal":
        return inputs
    if values == "strided":
        return dict(map_tensors(lambda tensor: _strided(tensor, numbers), inputs))
    change = _CHANGES[values]

    def fill(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_floating_point() and tensor.numel():
            change(tensor, numbers)
        return tensor

    with torch.no_grad():
        map_tensors(fill, inputs)
    return inputs


def _large(tensor: torch.Tensor, numbers: Correctness) -> None:
    tensor.copy_(tensor * numbers.large_scale)


def _small(tensor: torch.Tensor, numbers: Correctness) -> None:
    tensor.copy_(tensor * numbers.small_scale)


def _constant(tensor: torch.Tensor, numbers: Correctness) -> None:
    """Every element takes the first one's value, which the tensor's role allows (a gate stays negative)."""
    tensor.fill_(tensor.reshape(-1)[0].item())


def _zeros(tensor: torch.Tensor, numbers: Correctness) -> None:
    tensor.zero_()


def _denormals(tensor: torch.Tensor, numbers: Correctness) -> None:
    """Magnitudes below the smallest normal number of the dtype, signs kept."""
    import torch

    tensor.copy_(torch.sign(tensor) * (torch.finfo(tensor.dtype).tiny / 8))


def _infinite(tensor: torch.Tensor, numbers: Correctness) -> None:
    """The first row is -inf, as a row of scores is where nothing may be attended to."""
    if tensor.dim() >= 2:
        tensor[(0,) * (tensor.dim() - 1)].fill_(-float("inf"))


def _strided(tensor: torch.Tensor, numbers: Correctness) -> torch.Tensor:
    """The same values in rows that are further apart; what lies between them is large and finite."""
    if tensor.dim() < 2 or not tensor.numel():
        return tensor
    wide = tensor.new_full((*tensor.shape[:-1], tensor.shape[-1] + numbers.stride_padding), 99)
    rows = wide[..., : tensor.shape[-1]]
    rows.copy_(tensor)
    return rows


_CHANGES: dict[str, Callable[[Any, Correctness], None]] = {
    "large": _large,
    "small": _small,
    "constant": _constant,
    "zeros": _zeros,
    "denormals": _denormals,
    "infinite": _infinite,
}
