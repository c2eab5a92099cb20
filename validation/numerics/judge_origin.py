"""Whether a candidate's results come from its kernels, as the original's do: what is timed are launches, nothing else.

A wrong kernel behind a host that computes the result, or mends it, is no rewriting of that kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..protocol import Correctness
from ..workloads.hooks import is_scratch
from .cases import Case
from .judge_launches import mended
from .outputs import Fact, fact
from .undone import computed_elsewhere, from_kernels


def origin(case: Case, runs: list[dict[str, Any]], payload: Mapping[str, Any], own: Path, first: Case) -> list[Fact]:
    """Facts about the origin of a declared case's results, which are right. `first` is its workload's first case, the
    only one with a run without what the kernels write. Payload: as of task `judge_candidate`."""
    known, undone = payload["from_kernels"][case.id], payload["undone"].get(case.id)
    if payload["rewrites_model"]:
        return _of_model(case, runs, known, undone, own) if case.id == first.id else []
    found: list[Fact] = []
    if case.id == first.id:
        mine = from_kernels(case, known, undone, own)
        depends = [
            name for name in payload["depends"][case.id]
            if name.startswith("output ") or not is_scratch(name.removeprefix("input "), payload["scratch"])
        ]
        missing = [name for name in depends if name not in mine]
        found = [fact("output_not_from_kernel", output=name) for name in missing]
        left = payload["original_from_kernels"][case.id]
        for name, (count, total) in computed_elsewhere(case, known, own).items():
            if f"output {name}" in left and f"output {name}" not in missing:
                found.append(fact("output_partly_not_from_kernel", output=name, count=count, total=total))
    numbers = Correctness(**payload["numbers"])
    by_chance = set(payload["depends"][case.id]) - set(payload["depends"][first.id])
    return found or mended(case, own, Path(payload["out"]), {*known, *by_chance}, payload["exact"], numbers,
                           payload["scratch"])


def _of_model(
    case: Case, runs: list[dict[str, Any]], known: list[str], undone: Mapping[str, Any] | None, own: Path
) -> list[Fact]:
    """Of a rewriting of a plain model something must come from kernels; which part is the author's to choose."""
    if not runs[0]["launches"]:
        return [fact("kernel_unseen", "warning", workload=case.workload)]
    if not from_kernels(case, known, undone, own):
        return [fact("launches_for_show", workload=case.workload)]
    return [
        fact("output_partly_not_from_kernel", "warning", output=name, count=count, total=total)
        for name, (count, total) in computed_elsewhere(case, known, own).items()
    ]
