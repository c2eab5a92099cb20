"""Times a recorded launch against versions of it, interleaved, with a second copy of the original as control."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from ..protocol import Protocol
from ..timing.clocks import Clocks
from ..timing.memory import touched_tensors
from ..timing.names import CONTROL
from ..timing.prepared import Prepared
from ..timing.recording import Launch, Recording
from ..timing.sampling import sample
from ..timing.statistics import median, ratio_interval
from ..timing.timers import Timer
from ..timing.variants import Run
from .capture import Captured

ORIGINAL = "original"
NUMBERS = {
    "timing.final_samples": 16,
    "timing.final_trials": 2,
    "timing.graph_milliseconds": 0.6,
    "timing.graph_launches": 400,
    "timing.warmup_runs": 3,
    "timing.warmup_milliseconds": 60.0,
}
"""The short protocol: everything else is the protocol's."""
SECONDS = 1.0
"""Sampling of one kernel and all its versions goes on so long at most."""


def times(
    captured: Captured, launches: Mapping[str, Launch], timer: Timer, clocks: Clocks, numbers: Protocol, seed: int
) -> dict[str, Any]:
    """Microseconds a version, and how many times as long as the original each takes, with intervals.

    `control` is the original against a second copy of itself. Raises what a launch raises.
    """
    everyone = {ORIGINAL: captured.launch, CONTROL: captured.launch, **launches}
    prepared = {name: Prepared(_run(captured.recording, launch), timer, numbers) for name, launch in everyone.items()}
    for one in prepared.values():
        one.warm_up(numbers.timing.warmup_runs, numbers.timing.warmup_milliseconds / 1e3 / len(prepared))

    def fill() -> None:
        for one in prepared.values():
            one.fill()

    before = clocks.facts()
    taken = sample(
        list(prepared),
        lambda name: prepared[name].measure("cold"),
        random.Random(seed),
        clocks.fraction,
        numbers.timing,
        fill,
        SECONDS,
    )

    def ratio(first: str, second: str) -> dict[str, float]:
        blocks = taken.pairs(first, second)
        return ratio_interval(blocks, numbers.timing.bootstrap_resamples, numbers.timing.confidence, seed).to_dict()

    return {
        "microseconds": {name: round(median(taken.of(name)) * 1e6, 3) for name in prepared},
        "ratio": {name: ratio(name, ORIGINAL) for name in launches},
        "control": ratio(CONTROL, ORIGINAL),
        "samples": len(taken.of(ORIGINAL)),
        "dropped": taken.dropped,
        "bytes_touched": prepared[ORIGINAL].bytes_touched,
        "clocks": [before, clocks.facts()],
    }


def _run(recording: Recording, launch: Launch) -> Run:
    """The launch as a run of its own. Its counters are its inputs: they must start alike in every replay."""
    counters = {
        str(number): tensor
        for number, tensor in enumerate(touched_tensors([launch]).values())
        if not tensor.is_floating_point()
    }
    nobody: Any = None
    return Run(nobody, recording, [launch], {}, counters)
