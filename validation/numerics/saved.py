"""What the workers left, read back for the judges: cases, runs, references, redzones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import trees
from .cases import Case
from .compare.exact import exact_difference
from .outputs import Fact, compare_form, fact


def use_cores() -> None:
    """Comparisons of large tensors take half of the cores; the warm process leaves its forks with one thread."""
    import torch

    torch.set_num_threads(max(1, (os.cpu_count() or 1) // 2))


def reruns(case: Case, folder: Path, count: int) -> list[Fact]:
    """Runs of one case against its first: same surroundings must give the same bits, other surroundings too."""
    found: list[Fact] = []
    if count < 2:
        return found
    first = trees.load(folder / f"{case.id}.0.pt")["outputs"]
    for number in range(1, count):
        again = trees.load(folder / f"{case.id}.{number}.pt")["outputs"]
        code = "reads_outside" if number == count - 1 and not found else "not_deterministic"
        for name, value in first.items():
            if name in again and is_tensor(value) and not compare_form({name: again[name]}, {name: value}):
                if changed := exact_difference(again[name], value):
                    found.append(fact(code, output=name, **changed))
    return found


def reference_of(case: Case, out: Path) -> dict[str, Any]:
    path = out / f"{case.id}.reference.pt"
    return dict(trees.load(path)) if path.exists() else {}


def cases_of(payload: dict[str, Any]) -> list[tuple[Case, list[dict[str, Any]]]]:
    return [(Case(**entry["case"]), entry["runs"]) for entry in payload["cases"]]


def zones_of(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Broken zones of all runs, each named once."""
    return list({(zone["tensor"], zone["side"]): zone for run in runs for zone in run["broken"]}.values())


def broken_zone(zone: dict[str, Any], what: str, severity: str) -> Fact:
    return fact("out_of_bounds_write", severity, what=what, **zone)


def is_tensor(value: object) -> bool:
    import torch

    return isinstance(value, torch.Tensor)
