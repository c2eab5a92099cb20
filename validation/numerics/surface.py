"""What a run does to its caller beside the values: how outputs lie in memory, whose memory that is, and what happens to
the inputs on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import trees

if TYPE_CHECKING:
    import torch


class Surface:
    """Looks at the inputs of one run before it."""

    def __init__(self, inputs: Any) -> None:
        import torch

        self._before = {name: _handle(leaf) for name, leaf in _tensors(inputs, "input").items()}
        self._random = torch.get_rng_state()

    def facts(self, inputs: Any, result: Any) -> dict[str, Any]:
        """After the run. `moved`: inputs that are other views than they were; `touched`: those that operators of
        PyTorch wrote into; `shared`: pairs of an output and the input, or the earlier output, whose memory it lies in;
        `layouts`: strides and gradients of the outputs; `random`: the state of random numbers is another."""
        import torch

        given, made = _tensors(inputs, "input"), _tensors(result, "output")
        after = {name: _handle(leaf) for name, leaf in given.items()}
        known = sorted(set(after) & set(self._before))
        owners: dict[int, str] = {}
        for name, leaf in given.items():
            owners.setdefault(_memory(leaf), f"input {name}")
        shared = []
        for name, leaf in made.items():
            owner = owners.setdefault(_memory(leaf), f"output {name}")
            if owner != f"output {name}":
                shared.append([f"output {name}", owner])
        return {
            "moved": [name for name in known if after[name][0] != self._before[name][0]],
            "touched": [name for name in known if after[name][1] != self._before[name][1]],
            "shared": shared,
            "layouts": {
                name: {"sizes": list(leaf.shape), "strides": list(leaf.stride()), "requires_grad": leaf.requires_grad}
                for name, leaf in made.items()
            },
            "random": not torch.equal(torch.get_rng_state(), self._random),
        }


def memories(result: Any) -> dict[str, int]:
    """The addresses of the memories that the outputs lie in, by name."""
    return {name: _memory(leaf) for name, leaf in _tensors(result, "output").items()}


def own_methods(tensor: torch.Tensor) -> list[str]:
    """Names of methods that stand on the tensor itself, in front of those of its class."""
    import torch

    return sorted(name for name, value in vars(tensor).items() if callable(value) and hasattr(torch.Tensor, name))


def _tensors(tree: Any, alone: str) -> dict[str, torch.Tensor]:
    """The plain tensors of a tree that hold something."""
    import torch

    plain = (torch.Tensor, torch.nn.Parameter)
    return {
        name: leaf
        for name, leaf in trees.flatten(tree, alone=alone).items()
        if type(leaf) in plain and leaf.layout == torch.strided and leaf.device.type != "meta" and leaf.numel()
    }


def _memory(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())


def _handle(tensor: torch.Tensor) -> tuple[Any, int]:
    """What the tensor is a view of, and how often operators wrote into it."""
    view = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.requires_grad)
    return view, 0 if tensor.is_inference() else tensor._version
