"""Whether what a target hands back comes from its kernels: a run in which whatever the launches write is taken back.

An output that is the same all the same was not computed by them: it says nothing of a rewritten kernel.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ..isolation.channel import Emit
from ..protocol import Correctness
from ..workloads import Hooks
from . import trees
from .cases import Case
from .guarded_run import guarded_run
from .outputs import compare_form, compare_values
from .probes.run import first_cases
from .saved import is_tensor
from .written import Watch


def run_undone(
    hooks: Hooks,
    cases: list[Case],
    ran: Mapping[str, Mapping[str, Any]],
    exchange: Path,
    out: Path,
    device: str,
    numbers: Correctness,
    emit: Emit,
) -> None:
    """Makes that run for the first declared case of each workload, where the memory alone does not tell. `ran` is what
    the cases gave, by id. Reports `undone` with `raised`, and saves what the run gave as `CASE.undone.pt`."""
    for case in (one for one in first_cases(cases) if one.id in ran):
        left, inputs = trees.load(out / f"{case.id}.0.pt"), trees.load(exchange / f"{case.id}.pt")
        if _compared(left, inputs) <= set(ran[case.id]["from_kernels"]) or not ran[case.id]["runs"][0]["launches"]:
            continue
        emit("begin", what=f"{case.label}, without what its kernels write", case=case.id)
        try:
            made = guarded_run(hooks.run, inputs, case, device, numbers.guard_bytes[0], numbers, Watch(undo=True))
        except Exception:
            emit("undone", case=case.id, raised=True)
        else:
            trees.save({"outputs": made.outputs, "inputs": made.inputs_after}, out / f"{case.id}.undone.pt")
            emit("undone", case=case.id, raised=False)


def from_kernels(case: Case, known: list[str], undone: Mapping[str, Any] | None, out: Path) -> list[str]:
    """Outputs and changed inputs of a case that its launches computed: those `known` by their memory, and those that
    were others in the run without them. `undone` is that run's event; all where it could not even come to its end."""
    if undone is None:
        return known
    right = trees.load(out / f"{case.id}.0.pt")
    everything = {f"output {name}": value for name, value in right["outputs"].items()}
    everything |= {f"input {name}": value for name, value in right["inputs"].items()}
    if undone["raised"]:
        return [name for name in everything if name in known or name.startswith("output ")]
    left = trees.load(out / f"{case.id}.undone.pt")
    without = {f"output {name}": value for name, value in left["outputs"].items()}
    without |= {f"input {name}": value for name, value in left["inputs"].items()}
    return [name for name, value in everything.items() if name in known or differs(without.get(name), value)]


def computed_elsewhere(case: Case, known: Collection[str], out: Path) -> dict[str, tuple[int, int]]:
    """By name of an output that is not `known` to be left by a launch: how many of its values are the same to the bit
    in the run without what the launches write, and of how many.

    Only values that stand in it once count: zeros, limits and paddings come out of anything.
    """
    path = out / f"{case.id}.undone.pt"
    if not path.exists():
        return {}
    right, left = trees.load(out / f"{case.id}.0.pt")["outputs"], trees.load(path)["outputs"]
    found = {}
    for name, value in right.items():
        if f"output {name}" in known or not is_tensor(value) or not value.is_floating_point() or not value.numel():
            continue
        other = left.get(name)
        if compare_form({"": other}, {"": value}):
            continue
        _, place, times = value.unique(return_inverse=True, return_counts=True)
        once = (times[place] == 1) & value.isfinite()
        if same := int(((value == other) & once).sum()):
            found[name] = same, int(once.sum())
    return found


def differs(got: Any, expected: Any, exact: bool = True) -> bool:
    """True where the two are not equal: to the bit, or within the tolerance of reordered sums."""
    if compare_form({"": got}, {"": expected}):
        return True
    if not is_tensor(expected):
        return False
    return compare_values("", got, expected, exact=exact, reordered=True, numbers=Correctness()) is not None


def _compared(left: Mapping[str, Any], inputs: Any) -> set[str]:
    """Outputs, and inputs that are no longer what they were."""
    outputs = {f"output {n}" for n, value in left["outputs"].items() if not is_tensor(value) or value.numel()}
    was = trees.flatten(inputs, alone="input")
    return outputs | {f"input {n}" for n, value in left["inputs"].items() if differs(value, was[n])}
