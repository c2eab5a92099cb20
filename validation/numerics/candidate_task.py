"""Task `candidate`: runs a candidate on the inputs that the original's worker saved. It compares nothing.

Payload: subject, device, full, cases, numbers, exchange (folder of inputs, to be read only), out (folder).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..isolation.channel import Emit
from ..protocol import Correctness
from ..subject import Subject
from ..workloads import load_subject, read_hooks
from . import trees
from .cases import Case
from .device import prepare
from .guarded_run import run_and_save
from .integrity import Integrity
from .probes.run import run_probes
from .settings import Settings
from .undone import run_undone


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """See the module. Raises whatever the candidate raises; the last `begin` event says where."""
    numbers = Correctness(**payload["numbers"])
    device, exchange, out = payload["device"], Path(payload["exchange"]), Path(payload["out"])
    prepare(device)
    integrity, settings = Integrity(device), Settings()
    emit("begin", what="importing it")
    loaded = load_subject(Subject.from_dict(payload["subject"]), Path.cwd())
    emit("loaded", **loaded.facts())
    hooks = read_hooks(loaded.hooks_module)
    emit("kernels", of_model=hooks.of_model)
    cases = [Case(**entry) for entry in payload["cases"]]
    done: dict[str, dict[str, Any]] = {}
    for case in cases:
        emit("begin", what=case.label, case=case.id)
        inputs = trees.load(exchange / f"{case.id}.pt")
        done[case.id] = run_and_save(hooks.run, inputs, case, device, out, numbers)
        emit("ran", **done[case.id])
    thorough = payload["full"] or device.startswith("cuda")
    file, allowed = payload["subject"]["path"], set(payload["probes"])
    run_probes(loaded.module, hooks, cases, exchange, out, device, thorough, numbers, emit, file, allowed)
    run_undone(hooks, cases, done, exchange, out, device, numbers, emit)
    emit("loaded", **loaded.facts())
    emit("changed", names=integrity.changed(), settings=integrity.settings(), process=settings.changed())
    return {}
