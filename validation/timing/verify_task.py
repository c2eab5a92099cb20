"""Task `time_verify`: one candidate in a process of its own, held against the original before anything is timed.

Payload: subject, kernel, device, timer, numbers, seed, workloads (labels), candidates (one: name, text, exact).
Event a workload: `verified`, with the facts why it is not timed, empty where there is none.
"""

from __future__ import annotations

from typing import Any

from ..isolation.channel import Emit
from .bench_context import SCREENING_SEED, Context, context_of
from .prepared import figures, too_much_spilled
from .variants import Variant, same_results, untimed_work


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """See the module. Raises what the candidate raises; the last `begin` event says on which workload."""
    context = context_of(payload, emit)
    candidate = context.load(payload["candidates"][0])
    for label in payload["workloads"]:
        emit("begin", what=label, workload=label)
        emit("verified", workload=label, candidate=candidate.name, **_verify(context, candidate, label))
    context.timer.verify()
    return {}


def _verify(context: Context, candidate: Variant, label: str) -> dict[str, Any]:
    numbers = context.numbers
    first, second = context.run_pair(context.inputs(label, SCREENING_SEED), candidate)
    facts = same_results(second, first, numbers.correctness)
    spilled = too_much_spilled(second, first, numbers.compile.spill_bytes, candidate.name)
    return {
        "facts": facts + ([spilled] if spilled else []),
        "figures": [figures(launch) for launch in second.launches],
        "untimed": dict(untimed_work(first.recorded, second.recorded)),
    }
