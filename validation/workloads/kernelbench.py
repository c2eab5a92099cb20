"""Files in KernelBench's form: `Model` or `ModelNew`, `get_inputs`, `get_init_inputs`.

What is run is `ModelNew` where there is one, else `Model`; the reference is `Model`. As KernelBench does, the seed is
set before a model is built, so that both draw the same weights; where their names agree, the original's are loaded.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any


def is_kernelbench(module: ModuleType) -> bool:
    """True where the module has `get_inputs` and a `Model` or `ModelNew`."""
    has_model = any(isinstance(getattr(module, name, None), type) for name in ("Model", "ModelNew"))
    return has_model and callable(getattr(module, "get_inputs", None))


class KernelBench:
    """The hooks of such a module."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._candidate = getattr(module, "ModelNew", None) or module.Model

    @property
    def has_reference(self) -> bool:
        return hasattr(self._module, "Model")

    def make_inputs(self, seed: int, device: str = "cpu") -> dict[str, Any]:
        """`arguments` of the model's forward, `initial` ones of its constructor, its `weights`, and the `seed`."""
        import torch

        torch.manual_seed(seed)
        initial = list(getattr(self._module, "get_init_inputs", list)())
        arguments = [_moved(one, device) for one in self._module.get_inputs()]
        weights = {name: value.detach().clone() for name, value in self._built(seed, initial).state_dict().items()}
        return {"arguments": arguments, "initial": initial, "weights": weights, "seed": seed}

    def run(self, inputs: dict[str, Any]) -> Any:
        """One forward pass of a model built afresh with these weights."""
        return self._forward(self._candidate, inputs)

    def reference(self, inputs: dict[str, Any]) -> Any:
        """The same of `Model`, in the dtype of the inputs' floating-point values."""
        return self._forward(self._module.Model, inputs)

    def _built(self, seed: int, initial: list[Any], kind: Any = None) -> Any:
        import torch

        torch.manual_seed(seed)
        kind = kind or getattr(self._module, "Model", self._candidate)
        made = kind(*initial) if isinstance(initial, list) else kind(**initial)
        return made

    def _forward(self, kind: Any, inputs: dict[str, Any]) -> Any:
        import torch

        model = self._built(inputs["seed"], inputs["initial"], kind)
        tensors = [one for one in inputs["arguments"] if isinstance(one, torch.Tensor)]
        wide = any(one.dtype == torch.float64 for one in tensors)
        model = model.to(tensors[0].device) if tensors else model
        model = model.double() if wide else model
        weights = inputs["weights"]
        if set(weights) == set(model.state_dict()):
            model.load_state_dict(weights)
        with torch.no_grad():
            return model.eval()(*inputs["arguments"])


def _moved(value: Any, device: str) -> Any:
    import torch

    return value.to(device) if isinstance(value, torch.Tensor) else value
