"""Parts one after the other, with the state handed on: together they must give what the whole gives.

The hooks `SPLIT = {"q": 1, "o": 1}` (the dimension of time of inputs and outputs) and `STATE = {"h0": "ht"}` (the input
that takes a state, and the output that holds it afterwards).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from .. import trees
from ..guarded_run import guarded_run
from .base import Probe, Setting
from .batch import taken


def probes(setting: Setting) -> Iterator[Probe]:
    """One probe a number of parts. Its outputs are the parts' joined, and the last state."""
    along, state = setting.hooks.split, setting.hooks.state
    lengths = {setting.inputs[name].shape[dim] for name, dim in along.items() if name in setting.inputs}
    if not state or len(lengths) != 1:
        return
    (length,) = lengths
    for parts in setting.numbers.parts if setting.thorough else setting.numbers.parts[:1]:
        if length < parts:
            continue
        bounds = [length * n // parts for n in range(parts + 1)]

        def run(bounds: list[int] = bounds) -> dict[str, Any]:
            return _joined(setting, bounds)

        yield Probe("partition", f"partition.{parts}", run, {"along": along, "bounds": bounds})


def _joined(setting: Setting, bounds: list[int]) -> dict[str, Any]:
    import torch

    numbers, along, inputs = setting.numbers, setting.hooks.split, dict(setting.inputs)
    pieces: list[dict[str, Any]] = []
    for start, end in itertools.pairwise(bounds):
        part = {name: taken(inputs[name], along.get(name), start, end - start) for name in inputs}
        ran = guarded_run(setting.hooks.run, part, setting.case, setting.device, numbers.guard_bytes[0], numbers)
        pieces.append(ran.outputs)
        for given, left in setting.hooks.state.items():
            inputs[given] = ran.outputs[left] if left in ran.outputs else ran.inputs_after[left]
    joined = {name: torch.cat([p[name] for p in pieces], dim) for name, dim in along.items() if name in pieces[0]}
    last = {name: value for name, value in pieces[-1].items() if name not in joined}
    return trees.map_tensors(lambda tensor: tensor, joined | last)  # type: ignore[no-any-return]
