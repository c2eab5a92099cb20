"""Task `time_baseline`: what is known before anything is compared.

Payload: subject, kernel, device, timer, numbers, seed, workloads (labels still to be done; None for all), session.
Events: `session` (ceilings and environment), `workloads` (all labels), `baseline` (a workload's floor and launches).
"""

from __future__ import annotations

from typing import Any

from ..environment import main as environment
from ..isolation.channel import Emit
from .bandwidth import ceilings
from .bench_context import SCREENING_SEED, Context, context_of
from .floor import traffic
from .memory import footprint
from .prepared import figures
from .recording import Launch
from .variants import Run


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """See the module. Raises what the original raises."""
    context = context_of(payload, emit)
    emit("begin", what="measuring bandwidth")
    found = ceilings(context.device, context.timer, context.numbers.timing.bandwidth_bytes)
    emit("session", ceilings=found, environment=environment({}, emit), l2_bytes=context.timer.l2_bytes,
         timer=context.timer.name, clocks=context.clocks.facts())
    emit("workloads", labels=context.labels())
    for label in context.labels():
        if payload["workloads"] is None or label in payload["workloads"]:
            emit("begin", what=label, workload=label)
            emit("baseline", workload=label, **_baseline(context, label))
    return {}


def _baseline(context: Context, label: str) -> dict[str, Any]:
    run = context.run_original(context.inputs(label, SCREENING_SEED))
    return {
        "parameters": context.parameters(label),
        "bytes_touched": footprint(run.launches),
        **traffic(run, context.timer, context.numbers.timing.floor_probes),
        "launches": [figures(launch) | _shape(launch) for launch in run.launches],
        "tensors": {name: _tensor(leaf) for name, leaf in run.tensors().items()},
        "uncounted": _uncounted(run),
    }


def _shape(launch: Launch) -> dict[str, Any]:
    """Grid; integer arguments and dtypes of tensor arguments by the kernel's parameter; parameters that are None."""
    import torch

    names = list(launch.function.arg_names)
    bound = dict(zip(names, launch.arguments, strict=False)) | {k: v for k, v in launch.options.items() if k in names}
    grid = launch.grid(bound) if callable(launch.grid) else launch.grid
    return {
        "grid": [int(size) for size in grid],
        "constants": {name: value for name, value in bound.items() if isinstance(value, int)},
        "dtypes": {
            name: str(value.dtype).removeprefix("torch.")
            for name, value in bound.items()
            if isinstance(value, torch.Tensor)
        },
        "absent": [name for name, value in bound.items() if value is None],
    }


def _tensor(leaf: Any) -> dict[str, Any]:
    return {"shape": list(leaf.shape), "dtype": str(leaf.dtype).removeprefix("torch.")}


def _uncounted(run: Run) -> list[str]:
    """Kernels that the original launches besides the timed ones."""
    timed = {launch.kernel for launch in run.launches}
    return sorted({launch.kernel for launch in run.recorded.launches} - timed)
