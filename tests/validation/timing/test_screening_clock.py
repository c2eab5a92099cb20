"""Screening on a GPU whose clock is not up yet: it is given work until it is; an empty trial is never handed on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import chain, repeat
from types import SimpleNamespace
from typing import Any

import pytest

from skel.validation.protocol import Protocol
from skel.validation.timing.screen_task import screening_samples

NUMBERS = Protocol().override({"timing.screening_samples": 2})


class OneKernel:
    """Takes a microsecond, and counts how it is warmed up."""

    def __init__(self) -> None:
        self.warmed: list[float] = []

    def warm_up(self, runs: int, seconds: float) -> None:
        self.warmed.append(seconds)

    def fill(self) -> None: ...

    def measure(self, mode: str) -> float:
        return 1e-6

    def host_microseconds(self, launches: int) -> float:
        return 3.0


def _context(readings: Iterator[float]) -> Any:
    return SimpleNamespace(
        numbers=NUMBERS,
        rng=random.Random(0),
        clocks=SimpleNamespace(fraction=lambda: next(readings)),
        timer=SimpleNamespace(verify=lambda: None),
    )


def test_a_sleeping_clock_is_woken() -> None:
    one = OneKernel()
    found = screening_samples(_context(chain(repeat(0.2, 3), repeat(1.0))), {"original": one})  # type: ignore[dict-item]
    assert found["cold"] == {"original": [1.0, 1.0]} and found["warm"] == {"original": [1.0, 1.0]}
    assert found["dropped"] == 3 and max(one.warmed) == NUMBERS.timing.warmup_milliseconds / 1e3


def test_a_clock_that_never_comes_up_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="80% of its peak"):
        screening_samples(_context(repeat(0.2)), {"original": OneKernel()})  # type: ignore[dict-item]
