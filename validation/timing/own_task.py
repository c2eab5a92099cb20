"""Task `time_own`: the original in other configurations, warps and stages, its tile left alone.

Payload: as of `time_screen`, without a candidate. Event a workload: `own`, with the options of each configuration that
compiled to another binary, and samples of all.
"""

from __future__ import annotations

from typing import Any

from ..isolation.channel import Emit
from .bench_context import SCREENING_SEED, Context, context_of
from .prepared import figures, too_much_spilled
from .screen_task import screening_samples
from .variants import Run


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """See the module. Raises what the original raises as shipped; configurations that raise are left out."""
    context = context_of(payload, emit)
    for label in payload["workloads"]:
        emit("begin", what=label, workload=label)
        emit("own", workload=label, **_own(context, label))
    return {}


def _own(context: Context, label: str) -> dict[str, Any]:
    inputs = context.inputs(label, SCREENING_SEED)
    shipped = context.run_original(inputs)
    runs = {"original": shipped}
    seen = {_binaries(shipped)}
    options: dict[str, dict[str, int]] = {}
    left_out: dict[str, str] = {}
    numbers = context.numbers
    stages_that_differ: list[int] = list(numbers.timing.own_stages)
    for number, warps in enumerate(numbers.timing.own_warps):
        different: dict[tuple[Any, ...], int] = {}
        for stages in stages_that_differ:
            chosen = {"num_warps": warps, "num_stages": stages}
            name = f"original {warps}w {stages}s"
            try:
                run = context.run_original(inputs, context.original.with_options(name, chosen))
            except Exception as error:
                # A configuration that needs too much of something: it is not the best one.
                left_out[name] = f"{type(error).__name__}: {error}"[:200]
                continue
            different.setdefault(_binaries(run), stages)
            if spilled := too_much_spilled(run, shipped, numbers.compile.spill_bytes, name):
                left_out[name] = f"spills {spilled['fields']['bytes']} bytes a thread"
            elif (binaries := _binaries(run)) not in seen:
                seen.add(binaries)
                runs[name], options[name] = run, chosen
        if number == 0 and different:
            # Without a loop to pipeline most stages give one binary: one of each is enough for the other warps.
            stages_that_differ = sorted(different.values())
    return {"options": options, "left_out": left_out, **screening_samples(context, context.prepare_all(label, runs))}


def _binaries(run: Run) -> tuple[Any, ...]:
    """What makes two configurations the same: the compiled binaries, or the options where nothing is compiled."""
    found = [figures(launch).get("binary_sha256") for launch in run.launches]
    return tuple(found) if all(found) else tuple(sorted(run.variant.options.items()))
