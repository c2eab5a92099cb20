"""What a case is, and what it makes its inputs with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Inputs:
    """Random tensors on a device. `small` is for trying a case where there is no GPU."""

    device: str
    small: bool = False
    made: list[Any] = field(default_factory=list)
    """Every tensor made, so that one of which only the address was passed on lives as long as this."""

    def _kept(self, tensor: Any) -> Any:
        self.made.append(tensor)
        return tensor

    def size(self, real: int, small: int) -> int:
        return small if self.small else real

    def randn(self, *shape: int, dtype: str = "bfloat16", scale: float = 1.0) -> Any:
        """Normal values."""
        import torch

        return self._kept((torch.randn(shape, device=self.device) * scale).to(getattr(torch, dtype)))

    def unit(self, *shape: int, dtype: str = "bfloat16") -> Any:
        """Rows of length one."""
        import torch

        made = torch.nn.functional.normalize(self.randn(*shape, dtype="float32"), dim=-1)
        return self._kept(made.to(getattr(torch, dtype)))

    def gate(self, *shape: int, dtype: str = "float32", scale: float = 0.1) -> Any:
        """Logarithms of decays: negative and small."""
        import torch

        made = torch.nn.functional.logsigmoid(self.randn(*shape, dtype="float32")) * scale
        return self._kept(made.to(getattr(torch, dtype)))

    def sigmoid(self, *shape: int, dtype: str = "bfloat16") -> Any:
        """Values between 0 and 1."""
        import torch

        return self._kept(torch.sigmoid(self.randn(*shape, dtype="float32")).to(getattr(torch, dtype)))

    def empty(self, *shape: int, dtype: str = "bfloat16") -> Any:
        """Zeros, to be written."""
        import torch

        return torch.zeros(shape, device=self.device, dtype=getattr(torch, dtype))

    def integers(self, values: Any, dtype: str = "int32") -> Any:
        """A tensor of whole numbers."""
        import torch

        return torch.as_tensor(values, device=self.device, dtype=getattr(torch, dtype))


@dataclass(frozen=True, slots=True)
class Case:
    """One call."""

    name: str
    source: str
    """The package whose operator it calls."""
    shape: str
    call: Callable[[Inputs], object]
    """Makes inputs and calls the operator; what it returns is not used."""
    grad: bool = False
    """True where it runs a backward pass."""

    def __call__(self, inputs: Inputs) -> None:
        """The same inputs each time."""
        import torch

        torch.manual_seed(0)
        with torch.set_grad_enabled(self.grad):
            self.call(inputs)


def backward(result: Any) -> None:
    """Runs the backward pass from the first tensor of an operator's result."""
    import torch

    out = result[0] if isinstance(result, (tuple, list)) else result
    out.backward(torch.randn_like(out))
