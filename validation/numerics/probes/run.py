"""Makes the probes of a case in its worker and saves what each gave as `CASE.PROBE.pt`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...isolation.channel import Emit
from ...isolation.child import describe
from ...protocol import Correctness
from ...workloads import Hooks
from .. import trees
from ..cases import Case
from . import batch, configs, order, partition, same_memory
from .base import Maker, Setting

MAKERS: tuple[Maker, ...] = (order.probes, same_memory.probes, configs.probes, batch.probes, partition.probes)


def run_probes(
    module: Any,
    hooks: Hooks,
    cases: list[Case],
    exchange: Path,
    out: Path,
    device: str,
    thorough: bool,
    numbers: Correctness,
    emit: Emit,
    subject_file: str,
    allowed: set[str] | None = None,
) -> None:
    """Probes the first declared case of each workload. Reports `probed` with the kind of each, and the error of those
    that raised: a probe that fails ends nothing. `allowed` are those that the original came through, as `CASE.PROBE`;
    configurations may be others than the original's, so they are always run."""
    for case in first_cases(cases):
        others = [c for c in cases if c.workload == case.workload and c.kind == "declared" and c.seed != case.seed]
        other = others[0] if others else None
        setting = Setting(
            module,
            hooks,
            case,
            trees.load(exchange / f"{case.id}.pt"),
            other,
            trees.load(exchange / f"{other.id}.pt") if other else None,
            device,
            thorough,
            numbers,
        )
        for maker in MAKERS:
            for probe in maker(setting):
                if allowed is not None and probe.kind != "config" and f"{case.id}.{probe.name}" not in allowed:
                    continue
                emit("begin", what=f"{case.label}, {probe.name}", case=case.id)
                made = {"case": case.id, "kind": probe.kind, "probe": probe.name, "about": probe.about}
                try:
                    outputs = probe.run()
                except Exception as error:
                    emit("probed", **made, error=str(describe(error, subject_file)["error"]))
                else:
                    trees.save(outputs, out / f"{case.id}.{probe.name}.pt")
                    emit("probed", **made, error=None)


def first_cases(cases: list[Case]) -> list[Case]:
    """The first declared case of each workload."""
    found: dict[str, Case] = {}
    for case in cases:
        if case.kind == "declared":
            found.setdefault(case.workload, case)
    return list(found.values())
