"""Programs in another order: the interpreter runs them one by one, so any order is as good as its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..guarded_run import guarded_run
from .base import Probe, Setting


def probes(setting: Setting) -> Iterator[Probe]:
    """One probe with programs permuted, where programs are interpreted."""
    if os.environ.get("TRITON_INTERPRET") != "1":
        return
    numbers = setting.numbers

    def run() -> dict[str, Any]:
        with permuted(numbers.order_seed):
            return guarded_run(
                setting.hooks.run, setting.inputs, setting.case, setting.device, numbers.guard_bytes[0], numbers
            ).outputs

    yield Probe("order", "order", run)


@contextmanager
def permuted(seed: int) -> Iterator[None]:
    """Within: each launch visits its programs in an order drawn from `seed` instead of x, y, z."""
    import random

    from triton.runtime.interpreter import interpreter_builder

    builder: Any = interpreter_builder
    set_place, set_sizes = builder.set_grid_idx, builder.set_grid_dim
    order: list[int] = []

    def sizes(x: int, y: int, z: int) -> None:
        set_sizes(x, y, z)
        order[:] = range(x * y * z)
        random.Random(seed).shuffle(order)

    def place(x: int, y: int, z: int) -> None:
        _, height, depth = builder.grid_dim
        number = order[(x * height + y) * depth + z]
        set_place(number // (height * depth), number // depth % height, number % depth)

    builder.set_grid_idx, builder.set_grid_dim = place, sizes
    try:
        yield
    finally:
        builder.set_grid_idx, builder.set_grid_dim = set_place, set_sizes
