"""Task `substitute`: runs the original again with other values in one memory that its kernels write.

Either a candidate's values, or deliberately wrong ones where the candidate has no such memory: if the outputs stay what
they are, they say nothing of it. Payload: subject, device, numbers, exchange, out, questions (see `judge_launches`,
without their values), values (folder that holds them), runs (of the original, by case: nothing is asked twice).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..isolation.channel import Emit
from ..protocol import Correctness
from ..subject import Subject
from ..workloads import load_subject, read_hooks
from . import trees
from .cases import Case
from .device import prepare
from .guarded_run import guarded_run
from .written import Substitution, Watch


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """Reports `substituted` with the question's number, the kind of values and whether the run raised; saves what each
    run gave as `QUESTION.KIND.pt`."""
    numbers = Correctness(**payload["numbers"])
    device, exchange, out = payload["device"], Path(payload["exchange"]), Path(payload["out"])
    prepare(device)
    emit("begin", what="importing it")
    hooks = read_hooks(load_subject(Subject.from_dict(payload["subject"]), Path.cwd()).hooks_module)
    for number, asked in enumerate(payload["questions"]):
        case = Case(**asked["case"])
        key = (asked["kernel"], asked["parameter"], asked["number"])
        for kind, change in _changes(Path(payload["values"]) / f"{number}.pt"):
            emit("begin", what=f"{case.label}, {kind} in {asked['parameter']} of {asked['kernel']}")
            watch = Watch(substitute=Substitution(key, asked["launch"], change))
            inputs = trees.load(exchange / f"{case.id}.pt")
            try:
                made = guarded_run(hooks.run, inputs, case, device, numbers.guard_bytes[0], numbers, watch)
            except Exception:
                emit("substituted", question=number, kind=kind, raised=True)
            else:
                left = {"outputs": made.outputs, "inputs": made.inputs_after}
                trees.save(left, out / f"{number}.{kind}.pt")
                emit("substituted", question=number, kind=kind, raised=False)
    return {}


def _changes(path: Path) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    if path.exists():
        values = trees.load(path)
        yield "candidate", lambda there: values.to(there.device)
    else:
        yield from (("zeros", _zeros), ("rolled", _rolled), ("tail", _tail))


def _zeros(there: Any) -> Any:
    return there.new_zeros(there.shape)


def _rolled(there: Any) -> Any:
    """Every value at its neighbour's place."""
    return there.roll(1)


def _tail(there: Any) -> Any:
    """The last quarter is zero."""
    changed = there.clone()
    changed[changed.numel() * 3 // 4 :] = 0
    return changed
