"""Counts the launches of a run: which kernels, from which file. What ran must be what was meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def recorded() -> Iterator[Counter[tuple[str, str]]]:
    """Within: the launches of every Triton kernel, interpreted or compiled, counted by (kernel, source file)."""
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    counted: Counter[tuple[str, str]] = Counter()

    def counting(run: Any) -> Any:
        def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not kwargs.get("warmup"):
                counted[(self.fn.__name__, self.fn.__code__.co_filename)] += 1
            return run(self, *args, **kwargs)

        return wrapper

    kinds: tuple[Any, ...] = (InterpretedFunction, JITFunction)
    before = [kind.run for kind in kinds]
    for kind in kinds:
        kind.run = counting(kind.run)
    try:
        yield counted
    finally:
        for kind, run in zip(kinds, before, strict=True):
            kind.run = run
