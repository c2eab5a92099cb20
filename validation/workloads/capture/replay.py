"""The hooks of a capture: `make_inputs` gives a recorded call's arguments again, `run` makes the call."""

from __future__ import annotations

import importlib
from typing import Any

from .archive import Capture, CaptureError
from .values import restore

CALL = "captured call"
"""Key of the inputs that says which call they are for."""


class Replay:
    """Hooks for the calls numbered `calls`, whose functions are looked up in `module` when they are run."""

    def __init__(self, capture: Capture, module: str, calls: list[int]) -> None:
        self._capture = capture
        self._module = module
        self._calls = {str(number): capture.calls[number] for number in calls}

    @property
    def workloads(self) -> list[dict[str, str]]:
        """One workload a call."""
        return [{"name": label_of(call), "call": number} for number, call in self._calls.items()]

    def make_inputs(self, seed: int, device: str = "cpu", call: str = "") -> dict[str, Any]:
        """The arguments of a call by name. Seed 0 gives what was recorded. Raises CaptureError for an unknown call."""
        recorded = self._recorded(call)
        tensors = restore(self._capture, recorded, "before", seed, device)
        arguments = {name: decode(value, tensors, device) for name, value in recorded["arguments"].items()}
        return {CALL: call, **arguments}

    def run(self, inputs: dict[str, Any]) -> Any:
        """Makes the call with `inputs`; what it returns, or None where only the launch itself was recorded."""
        call = self._recorded(inputs[CALL])
        target = getattr(importlib.import_module(self._module), call["name"])
        positional = [inputs[name] for name in call["order"]]
        positional += inputs[call["rest"]] if call["rest"] else ()
        keywords = {name: inputs[name] for name in call["keywords"]}
        keywords |= inputs[call["extra"]] if call["extra"] else {}
        if call["kind"] == "apply":
            return target.apply(*positional)
        if call["kind"] == "kernel":
            options = {name: decode(value, [], "cpu") for name, value in call["options"].items()}
            _innermost(target)[tuple(call["grid"])](**keywords, **options)
            return None
        return target(*positional, **keywords)

    def _recorded(self, number: str) -> dict[str, Any]:
        if number not in self._calls:
            raise CaptureError(f"{self._capture.path} holds no call {number!r}")
        return self._calls[number]


def decode(value: Any, tensors: list[Any], device: str) -> Any:
    """The inverse of the recorder's `encode`, devices becoming `device`. Raises CaptureError for an unknown form."""
    if not isinstance(value, dict):
        return value
    ((form, held),) = value.items()
    if form == "tensor":
        return tensors[held]
    if form == "float":
        return float(held)
    if form == "tuple":
        return tuple(decode(one, tensors, device) for one in held)
    if form == "list":
        return [decode(one, tensors, device) for one in held]
    if form == "dict":
        return {key: decode(one, tensors, device) for key, one in held}
    if form in ("dtype", "device"):
        import torch

        return torch.device(device) if form == "device" else _dtype(torch, held)
    if form == "language_dtype":
        import triton.language as tl

        return tl.dtype(held)
    raise CaptureError(f"the capture holds a value of the unknown form {form!r}")


def _dtype(torch: Any, name: str) -> Any:
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise CaptureError(f"there is no dtype {name!r}")
    return found


def _innermost(kernel: Any) -> Any:
    """The kernel behind its autotuner and heuristics: what they chose is among the recorded arguments."""
    while hasattr(kernel, "fn") and hasattr(kernel.fn, "run"):
        kernel = kernel.fn
    return kernel


def label_of(call: dict[str, Any]) -> str:
    """A call in words: its function and the sizes of its first tensor."""
    sizes = "x".join(map(str, call["tensors"][0]["shape"])) if call["tensors"] else "no tensors"
    return f"call {call['call']} of {call['name']} ({sizes})"
