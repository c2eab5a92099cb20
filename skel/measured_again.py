"""The parts of docs/measurements.md on what was measured twice, and on what further steps added to a version."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

from skel.validation.protocol import Protocol
from skel.validation.timing.controls import NEAR
from skel.validation.timing.rows import verdict_of_interval

Evidence = dict[str, Any]


def again_section(timed: Iterable[Evidence]) -> list[str]:
    """Versions of one kernel that two runs share, each with both ratios; empty where nothing was measured twice."""
    lines: list[str] = []
    for first, second in combinations(timed, 2):
        if (first["file"], first["kernel"]) == (second["file"], second["kernel"]):
            lines += _twice(first, second)
    return lines


def composed_section(timed: Iterable[Evidence]) -> list[str]:
    """What the steps of other skeletons added to a version, by the samples of screening; empty where none did."""
    lines: list[str] = []
    for evidence in timed:
        lines += _composed(evidence)
    return lines


def _twice(first: Evidence, second: Evidence) -> Iterator[str]:
    ratios = [cold_ratios(one) for one in (first, second)]
    shared = [key for key in ratios[0] if key in ratios[1]]
    if not shared:
        return
    pairs = {key: (ratios[0][key], ratios[1][key]) for key in shared}
    clear = [pair for pair in pairs.values() if not all(NEAR[0] <= one <= NEAR[1] for one in pair)]
    apart = sorted(abs(a / b - 1) for a, b in pairs.values())
    same = sum(_verdict(a) == _verdict(b) for a, b in clear)
    yield f"## Measured twice: {first['file']}"
    yield ""
    yield (
        f"Two whole runs with fresh processes and inputs; cold ratios of the {len(shared)} versions and workloads "
        f"that both hold, finals where there are, else screening. Verdicts: {first['verdict']}, {second['verdict']}. "
        f"Of the {len(clear)} outside {NEAR[0]} to {NEAR[1]}, {same} have the same verdict; the two ratios of "
        f"one version differ by {apart[len(apart) // 2]:.1%} in the median, {apart[-1]:.1%} at most."
    )
    yield ""
    yield "| workload | version | first | second |"
    yield "|---|---|---|---|"
    for (label, version), (a, b) in pairs.items():
        yield f"| {label} | {version} | {a:.3f} | {b:.3f} |"
    yield ""


def cold_ratios(evidence: Evidence) -> dict[tuple[str, str], float]:
    """Original over version with a cold L2, by workload and version; finals count for more than screening."""
    screening = evidence["timing"]["screening"]
    found = {(one["workload"], one["candidate"]): one["cold"] for one in screening if "cold" in one}
    for row in evidence["workloads"]:
        for name, data in row.get("candidates", {}).items():
            if name != "original":
                shown = row["own"]["name"] if name == "own" else name
                found[(row["label"], shown)] = data["ratio"]["cold"]["median"]
    return found


def _composed(evidence: Evidence) -> Iterator[str]:
    screened = {(one["candidate"], one["workload"]): one for one in evidence["timing"]["screening"] if "cold" in one}
    steps = {name: one["settings"]["composed"] for (name, _), one in screened.items() if "composed" in one["settings"]}
    if not steps:
        return
    yield f"## What further steps add: {evidence['file']}"
    yield ""
    yield "Medians of screening, the version with the step over that without; the last column is the geometric mean."
    yield ""
    labels = list(dict.fromkeys(label for name, label in screened if name in steps))
    yield "| step | L2 | " + " | ".join(labels) + " | all |"
    yield "|---" * (len(labels) + 3) + "|"
    for name, step in steps.items():
        base = name.removesuffix("+" + step)
        for mode in ("cold", "warm"):
            gains = [screened[name, label][mode] / screened[base, label][mode] for label in labels]
            mean = math.exp(sum(map(math.log, gains)) / len(gains))
            cells = [f"{base} + {step.replace('+', ' + ')}", mode, *(f"{gain:.3f}" for gain in [*gains, mean])]
            yield "| " + " | ".join(cells) + " |"
    yield ""


def _verdict(ratio: float) -> str:
    numbers = Protocol().timing
    return verdict_of_interval(ratio, ratio, numbers.faster_above, numbers.slower_below)
