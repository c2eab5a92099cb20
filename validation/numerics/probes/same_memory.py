"""Other inputs at the same addresses: a result that is kept by pointer, or replayed, is what the first inputs gave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import trees
from ..fresh import fresh_memory
from ..redzones import Arena
from .base import Probe, Setting


def probes(setting: Setting) -> Iterator[Probe]:
    """One probe, where the other inputs have the same form; its outputs belong to the other case."""
    first, second = setting.inputs, setting.other_inputs
    if setting.other_case is None or second is None or form(first) != form(second):
        return

    def run() -> dict[str, Any]:
        import torch

        arena = Arena(setting.numbers.redzone_bytes, setting.numbers.guard_bytes[0])
        guarded = arena.move(first, setting.device)
        _run(setting, arena, guarded)
        with torch.no_grad():
            for held, value in zip(_tensors(guarded), _tensors(second), strict=True):
                held.copy_(value)
        outputs = trees.flatten(_run(setting, arena, guarded))
        return {name: leaf for name, leaf in outputs.items() if type(leaf) is torch.Tensor}

    yield Probe("same_memory", "same_memory", run, {"expected": setting.other_case.id, "earlier": setting.case.label})


def _run(setting: Setting, arena: Arena, guarded: Any) -> Any:
    import torch

    torch.manual_seed(setting.other_case.seed if setting.other_case else setting.case.seed)
    with fresh_memory(arena):
        result = setting.hooks.run(trees.map_tensors(lambda tensor: tensor, guarded))
        if setting.device.startswith("cuda"):
            torch.cuda.synchronize()
    return trees.map_tensors(lambda tensor: tensor.detach().to("cpu", copy=True), result)


def form(inputs: Any) -> list[Any]:
    """Shapes, dtypes and strides of the tensors, and every other value: equal where one may take the other's place."""
    import torch

    return [
        (tuple(leaf.shape), leaf.dtype, leaf.stride()) if isinstance(leaf, torch.Tensor) else leaf
        for leaf in trees.flatten(inputs).values()
    ]


def _tensors(tree: Any) -> list[Any]:
    import torch

    return [leaf for leaf in trees.flatten(tree).values() if isinstance(leaf, torch.Tensor)]
