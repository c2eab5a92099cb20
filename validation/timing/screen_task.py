"""Task `time_screen`: several verified candidates and the original, interleaved, workload by workload.

Payload: subject, kernel, device, timer, numbers, seed, entries (workload, candidates by name), candidates (name, text,
exact). Event a workload: `screened_together`, with samples by mode.
"""

from __future__ import annotations

import time
from typing import Any

from ..isolation.channel import Emit
from .bench_context import SCREENING_SEED, Context, context_of
from .names import MODES, Mode
from .prepared import Prepared
from .sampling import Samples, one_trial

CLOCK_ATTEMPTS = 4


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """See the module. Raises what a candidate raises; the last `begin` event says whose and on which workload."""
    context = context_of(payload, emit)
    given = {one["name"]: one for one in payload["candidates"]}
    for entry in payload["entries"]:
        label = entry["workload"]
        begun = time.monotonic()
        inputs = context.inputs(label, SCREENING_SEED)
        runs, _ = context.run_together(label, inputs, [given[name] for name in entry["candidates"]], {})
        ran = time.monotonic()
        prepared = context.prepare_all(label, runs)
        ready = time.monotonic()
        samples = screening_samples(context, prepared)
        seconds = {"run": ran - begun, "prepare": ready - ran, "sample": time.monotonic() - ready}
        emit("screened_together", workload=label, candidates=entry["candidates"], seconds=seconds, **samples)
    return {}


def screening_samples(context: Context, prepared: dict[str, Prepared]) -> dict[str, Any]:
    """After a warm-up: rounds of all by mode, in microseconds; the host's launch times; the rounds dropped."""
    numbers = context.numbers.timing
    for one in prepared.values():
        one.warm_up(numbers.warmup_runs, 0.0)
    found: dict[str, Any] = {"dropped": 0, "host_microseconds": host_times(context, prepared)}
    for mode in MODES:
        taken = _rounds(context, prepared, mode)
        found[mode] = in_microseconds(taken.trials[-1])
        found["dropped"] += taken.dropped
    context.timer.verify()
    return found


def _rounds(context: Context, prepared: dict[str, Prepared], mode: Mode) -> Samples:
    """The last trial holds rounds at a full clock. A GPU that was idle needs work before its clock is up.

    Raises RuntimeError where the clock never comes up.
    """
    numbers, taken = context.numbers.timing, Samples()
    for _ in range(CLOCK_ATTEMPTS):
        for one in prepared.values():
            one.fill()
        one_trial(list(prepared), lambda name: prepared[name].measure(mode),
                  numbers.screening_samples, context.rng, context.clocks.fraction, numbers, taken)
        if taken.trials[-1]:
            return taken
        next(iter(prepared.values())).warm_up(numbers.warmup_runs, numbers.warmup_milliseconds / 1e3)
    raise RuntimeError(f"the GPU's clock stayed under {numbers.clock_fraction:.0%} of its peak: nothing was timed")


def host_times(context: Context, prepared: dict[str, Prepared]) -> dict[str, float]:
    """Microseconds the host takes to launch, by name."""
    launches = context.numbers.timing.host_launches
    return {name: round(one.host_microseconds(launches), 3) for name, one in prepared.items()}


def in_microseconds(trial: list[dict[str, float]]) -> dict[str, list[float]]:
    """Samples by name, in the order of their rounds."""
    return {name: [round(one[name] * 1e6, 4) for one in trial] for name in (trial[0] if trial else ())}
