"""Task `time_final`: workload by workload, everyone in it interleaved, on fresh inputs, in a process of its own.

Payload: subject, kernel, device, timer, numbers, seed (unpredictable), candidates (name, text, exact), entries
(workload, own: launch options or None, candidates by name). Event a workload: `final`, with samples by mode and trial,
audits and checks. Beside the original runs a second one, recorded and prepared by itself: the control.
"""

from __future__ import annotations

import time
from typing import Any

from ..isolation.channel import Emit
from ..numerics import trees
from ..numerics.outputs import Fact, compare_with_reference
from .audits import Audits
from .bench_context import Context, context_of
from .names import CONTROL, MODES, OWN
from .prepared import Prepared, figures
from .sampling import sample
from .screen_task import host_times, in_microseconds
from .variants import Run, copied_inputs, same_results, untimed_work


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """See the module. Raises what a candidate raises; the last `begin` event names it."""
    context = context_of(payload, emit)
    given = {one["name"]: one for one in payload["candidates"]}
    for entry in payload["entries"]:
        emit("begin", what=entry["workload"], workload=entry["workload"])
        candidates = [given[name] for name in entry["candidates"]]
        emit("final", workload=entry["workload"], **_final(context, entry, candidates, payload["seed"]))
    return {}


def _final(context: Context, entry: dict[str, Any], candidates: list[dict[str, Any]], seed: int) -> dict[str, Any]:
    label, numbers = entry["workload"], context.numbers
    inputs = context.inputs(label, seed)
    originals = {CONTROL: context.original}
    if entry["own"] is not None:
        originals[OWN] = context.original.with_options(OWN, entry["own"])
    runs, others = context.run_together(label, inputs, candidates, originals)
    facts = {name: same_results(runs[name], other, numbers.correctness) for name, other in others.items()}
    reference = _reference(context, inputs, runs, facts)
    prepared = context.prepare_all(label, {name: run for name, run in runs.items() if not facts.get(name)})
    begun, clocks = time.monotonic(), [context.clocks.facts()]
    audits = Audits(context, prepared, facts)
    samples = _samples(context, prepared, audits)
    clocks.append(context.clocks.facts())
    audits.afterwards()
    context.timer.verify()
    return {
        "seed": seed,
        "timer": context.timer.name,
        "seconds": round(time.monotonic() - begun, 2),
        "clocks": clocks,
        "facts": facts,
        "audited": audits.counted,
        "reference": reference,
        "untimed": {name: dict(untimed_work(other.recorded, runs[name].recorded)) for name, other in others.items()},
        "figures": {name: [figures(launch) for launch in run.launches] for name, run in runs.items()},
        "host_microseconds": host_times(context, prepared),
        **samples,
    }


def _reference(context: Context, inputs: Any, runs: dict[str, Run], facts: dict[str, list[Fact]]) -> dict[str, Any]:
    """Holds everyone against the float64 reference, where there is one and the inputs are small enough."""
    import torch

    hooks = context.original.hooks
    leaves = [leaf for leaf in trees.flatten(inputs, alone="input").values() if isinstance(leaf, torch.Tensor)]
    size = sum(leaf.numel() * leaf.element_size() for leaf in leaves)
    if hooks.reference is None or size > context.numbers.timing.reference_bytes:
        return {"compared": False}
    with context.original.active():
        wide = trees.map_tensors(lambda t: t.double() if t.is_floating_point() else t, copied_inputs(inputs))
        expected = trees.flatten(hooks.reference(wide))
    agrees = [name for name, bad in _against(runs["original"], expected, context).items() if bad is None]
    for name, run in runs.items():
        if name != "original":
            wrong = _against(run, expected, context)
            facts[name] += [bad for output, bad in wrong.items() if bad is not None and output in agrees]
    return {"compared": True, "outputs": agrees}


def _against(run: Run, expected: dict[str, Any], context: Context) -> dict[str, Fact | None]:
    import torch

    return {
        name: compare_with_reference(name, run.outputs[name], right, context.numbers.correctness)
        for name, right in expected.items()
        if isinstance(right, torch.Tensor) and isinstance(run.outputs.get(name), torch.Tensor)
    }


def _samples(context: Context, prepared: dict[str, Prepared], audits: Audits) -> dict[str, Any]:
    numbers = context.numbers.timing
    for one in prepared.values():
        one.warm_up(numbers.warmup_runs, numbers.warmup_milliseconds / 1e3 / len(prepared))
    share = numbers.pair_seconds / (numbers.processes * len(MODES))

    def between() -> None:
        for one in prepared.values():
            one.fill()

    found: dict[str, Any] = {"dropped": 0, "exhausted": False}
    for mode in MODES:
        taken = sample(
            list(prepared), lambda name, mode=mode: audits.measured(name, mode), context.rng,  # type: ignore[misc]
            context.clocks.fraction, numbers, between, share,
        )
        found[mode] = [in_microseconds(trial) for trial in taken.trials]
        found["dropped"] += taken.dropped
        found["exhausted"] |= taken.exhausted
    return found
