"""One sequence alone: its result must not depend on how many others stand beside it.

The hook `BATCH = {"q": 0, "o": 0}` names, for inputs and outputs, the dimension that sequences lie along.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import trees
from ..guarded_run import guarded_run
from .base import Probe, Setting


def probes(setting: Setting) -> Iterator[Probe]:
    """Two probes: the first sequence and the last."""
    along = setting.hooks.batch
    sizes = {setting.inputs[name].shape[dim] for name, dim in along.items() if name in setting.inputs}
    if not sizes or max(sizes) < 2:
        return
    for number in (0, max(sizes) - 1):

        def run(number: int = number) -> dict[str, Any]:
            inputs = {name: taken(value, along.get(name), number, 1) for name, value in setting.inputs.items()}
            numbers = setting.numbers
            return guarded_run(
                setting.hooks.run, inputs, setting.case, setting.device, numbers.guard_bytes[0], numbers
            ).outputs

        yield Probe("batch", f"batch.{number}", run, {"along": along, "number": number})


def taken(value: Any, dim: int | None, start: int, length: int) -> Any:
    """That part of a tensor along `dim`, as a tensor of its own; anything else, and None, as it is."""
    return value if dim is None else trees.map_tensors(lambda t: t.narrow(dim, start, length).clone(), value)
