"""The hooks of a target file: `run`, `make_inputs`, optional `reference`, `WORKLOADS` and `GPU_WORKLOADS`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from .kernelbench import KernelBench, is_kernelbench


class MissingHooks(Exception):
    """The module has no usable `run` and `make_inputs`."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a file offers to be run with.

    `run(inputs)` launches and returns a tensor, a tuple or a dict; `make_inputs(seed, device=..., **workload)` returns
    the dict of inputs; `reference(inputs)` is plain PyTorch, evaluated in float64, with the same form of outputs.
    """

    run: Callable[[dict[str, Any]], Any]
    make_inputs: Callable[..., dict[str, Any]]
    reference: Callable[[dict[str, Any]], Any] | None
    workloads: tuple[dict[str, Any], ...]
    gpu_workloads: tuple[dict[str, Any], ...]
    batch: dict[str, int] = field(default_factory=dict)
    """`BATCH`: by name of an input or output, the dimension that independent sequences lie along."""
    split: dict[str, int] = field(default_factory=dict)
    """`SPLIT`: by name of an input or output, the dimension of time."""
    state: dict[str, str] = field(default_factory=dict)
    """`STATE`: by name of the input that takes a state, the output (or changed input) that holds it afterwards."""
    scratch: tuple[str, ...] = ()
    """`SCRATCH`: inputs and kernel parameters whose last contents nobody needs, as locks and counters that follow the
    grid; what is returned is never scratch."""
    of_model: bool = False
    """True where `run` is the plain model that a rewriting is held against: it need not launch anything."""

    def workloads_for(self, device: str) -> tuple[dict[str, Any], ...]:
        """Those of the device: `GPU_WORKLOADS` on a GPU where there are some, else `WORKLOADS`."""
        return self.gpu_workloads if device.startswith("cuda") and self.gpu_workloads else self.workloads

    def inputs(self, seed: int, device: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs of one case. Raises TypeError where make_inputs returns no dict, and whatever it raises itself."""
        made = self.make_inputs(seed, device=device, **parameters)
        if not isinstance(made, dict):
            raise TypeError(f"make_inputs returned a {type(made).__name__}, not a dict")
        return made

    def integer_defaults(self) -> dict[str, int]:
        """The integer keywords of make_inputs with their defaults, in the order they stand in."""
        found = {}
        for name, parameter in list(inspect.signature(self.make_inputs).parameters.items())[1:]:
            if type(parameter.default) is int:
                found[name] = parameter.default
        return found


def read_hooks(module: ModuleType) -> Hooks:
    """The hooks a loaded module offers, its own or KernelBench's.

    Raises MissingHooks with what is missing or malformed.
    """
    if is_kernelbench(module) and not hasattr(module, "run"):
        bench = KernelBench(module)
        reference = bench.reference if bench.has_reference else None
        return Hooks(bench.run, bench.make_inputs, reference, ({},), (), of_model=not hasattr(module, "ModelNew"))
    missing = [name for name in ("run", "make_inputs") if not callable(getattr(module, name, None))]
    if missing:
        raise MissingHooks(f"{' and '.join(missing)} not found")
    reference = getattr(module, "reference", None)
    if reference is not None and not callable(reference):
        raise MissingHooks("reference is not callable")
    return Hooks(
        module.run,
        module.make_inputs,
        reference,
        _workloads(module, "WORKLOADS") or ({},),
        _workloads(module, "GPU_WORKLOADS"),
        _named(module, "BATCH", int),
        _named(module, "SPLIT", int),
        _named(module, "STATE", str),
        _names(module, "SCRATCH"),
    )


def label_of(workload: Mapping[str, Any]) -> str:
    """The workload's `name`, or its parameters written out, or `default`."""
    if "name" in workload:
        return str(workload["name"])
    return ", ".join(f"{key}={value}" for key, value in workload.items()) or "default"


def parameters_of(workload: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments for make_inputs: everything but the label `name`."""
    return {key: value for key, value in workload.items() if key != "name"}


def _named(module: ModuleType, name: str, kind: type) -> dict[str, Any]:
    held = getattr(module, name, {})
    if not isinstance(held, Mapping) or not all(type(key) is str and type(one) is kind for key, one in held.items()):
        raise MissingHooks(f"{name} is not a dict of names to {kind.__name__}")
    return dict(held)


def is_scratch(name: str, scratch: Sequence[str]) -> bool:
    """True for an input's leaf or a parameter, by dotted name, that `SCRATCH` names or that lies in one it names."""
    return any(name == one or name.startswith(f"{one}.") for one in scratch)


def _names(module: ModuleType, name: str) -> tuple[str, ...]:
    held = getattr(module, name, ())
    if isinstance(held, str) or not isinstance(held, Sequence) or not all(type(one) is str for one in held):
        raise MissingHooks(f"{name} is not a list of names")
    return tuple(held)


def _workloads(module: ModuleType, name: str) -> tuple[dict[str, Any], ...]:
    listed = getattr(module, name, ())
    if not isinstance(listed, Sequence) or not all(isinstance(entry, Mapping) for entry in listed):
        raise MissingHooks(f"{name} is not a list of dicts")
    labels = [label_of(entry) for entry in listed]
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise MissingHooks(f"{name} has two workloads called {twice[0]!r}")
    return tuple(dict(entry) for entry in listed)
