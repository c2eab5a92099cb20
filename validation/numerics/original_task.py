"""Task `original`: plans the cases, makes and saves their inputs, runs the original and its reference on them.

Payload: subject, device, full, numbers (protocol's `correctness`), exchange (folder for inputs), out (folder).
Result: cases, those that ran with their facts, shape variations that the original rejects, where each kernel is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..isolation.channel import Emit
from ..isolation.child import describe
from ..protocol import Correctness
from ..subject import Subject
from ..workloads import Hooks, MissingHooks, load_subject, read_hooks
from . import trees
from .cases import Case, plan
from .device import prepare
from .guarded_run import run_and_save
from .integrity import Integrity
from .launches import kernels_of
from .probes.run import run_probes
from .settings import Settings
from .undone import run_undone
from .values import apply_values


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """See the module. Declared cases that raise end the task; stressed and varied ones are noted and left out."""
    numbers = Correctness(**payload["numbers"])
    device, exchange, out = payload["device"], Path(payload["exchange"]), Path(payload["out"])
    subject = Subject.from_dict(payload["subject"])
    prepare(device)
    integrity, settings = Integrity(device), Settings()
    emit("begin", what="importing it")
    loaded = load_subject(subject, Path.cwd())
    emit("loaded", **loaded.facts())
    try:
        hooks = read_hooks(loaded.hooks_module)
    except MissingHooks as error:
        return {"no_hooks": str(error)}
    names = [] if hooks.of_model else kernels_of(loaded.module, loaded.path)
    emit("kernels", names=names, of_model=hooks.of_model)
    emit("scratch", names=hooks.scratch)
    cases = plan(hooks, device, payload["full"], numbers)
    emit("plan", cases=[case.to_dict() for case in cases], has_reference=hooks.reference is not None)
    done: dict[str, dict[str, Any]] = {}
    for case in cases:
        emit("begin", what=case.label, case=case.id)
        try:
            ran = _run_case(hooks, case, device, exchange, out, numbers)
        except Exception as error:
            if case.kind == "declared":
                raise
            emit("rejected", case=case.id, **describe(error, subject.path))
        else:
            done[case.id] = ran
            emit("ran", **ran)
    thorough = payload["full"] or device.startswith("cuda")
    run_probes(loaded.module, hooks, cases, exchange, out, device, thorough, numbers, emit, subject.path)
    run_undone(hooks, cases, done, exchange, out, device, numbers, emit)
    emit("loaded", **loaded.facts())
    emit("changed", names=integrity.changed(), process=settings.changed())
    return {}


def _run_case(hooks: Hooks, case: Case, device: str, exchange: Path, out: Path, numbers: Correctness) -> dict[str, Any]:
    import torch

    torch.manual_seed(case.seed)
    inputs = apply_values(hooks.inputs(case.seed, device, case.parameters), case.values, numbers)
    trees.save(inputs, exchange / f"{case.id}.pt")
    inputs = trees.load(exchange / f"{case.id}.pt")
    ran = run_and_save(hooks.run, inputs, case, device, out, numbers)
    if hooks.reference is not None:
        ran["reference_error"] = _save_reference(hooks, inputs, device, out / f"{case.id}.reference.pt")
    return ran


def _save_reference(hooks: Hooks, inputs: Any, device: str, path: Path) -> str | None:
    """Evaluates the reference on float64 copies. Its error's text where it raises: then there is none for this case."""
    import torch

    def widened(tensor: torch.Tensor) -> torch.Tensor:
        copied = tensor.detach().to(device, copy=True)
        return copied.double() if copied.is_floating_point() else copied

    assert hooks.reference is not None
    try:
        outputs = trees.flatten(hooks.reference(trees.map_tensors(widened, inputs)))
    except Exception as error:
        return str(describe(error, None)["error"])
    trees.save({name: leaf.detach().cpu() for name, leaf in outputs.items() if isinstance(leaf, torch.Tensor)}, path)
    return None
