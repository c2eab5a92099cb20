"""The part of docs/measurements.md on timing itself: kernels against themselves, and against a changed form, twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skel.measured import section_of

CONTROLS = "docs/measured/controls.json"
"""What `python -m skel.validation.timing.controls` wrote."""


def controls_section(clone: Path) -> list[str]:
    """The section; empty where nothing was measured."""
    return section_of(clone / CONTROLS, _section)


def _section(data: dict[str, Any]) -> Iterator[str]:
    where, found = data["environment"], data["summary"]
    low, high = found["interval"]
    day = datetime.fromtimestamp(max(at for at in data["measured_at"] if at is not None), UTC).date()
    inside = " and ".join(str(count) for count in found["controls_inside"])
    often = len(found["controls_inside"])
    yield "## How far timing can be trusted: examples/controls/kernels.py"
    yield ""
    yield (
        f"{where['device']}, driver {where['driver']}, torch {where['torch']}, Triton {where['triton']}; "
        f"{data['timer']}; measured {day}. Each kernel against itself (control) and against a changed form, by the "
        f"whole protocol, {'once' if often == 1 else 'twice'}."
    )
    yield ""
    times = "" if often == 1 else ", the first and the second time"
    yield f"- controls inside {low} to {high}: {inside} of {found['measured']}{times}"
    outside = f"of {found['decided']} kernels whose ratio is outside {found['near'][0]} to {found['near'][1]}"
    if often > 1:
        yield f"- the same verdict both times: {found['same_verdict']} {outside} both times"
    yield f"- the same verdict from each fresh process alone: {found['same_verdict_by_process']} {outside}"
    missing = [one["kernel"] for one in data["kernels"] if not all(one["runs"])]
    if missing:
        yield f"- not measured to the end: {', '.join(missing)}"
    yield ""
    words = [""] if often == 1 else [", first", ", second"]
    heads = [f"{what}{word}" for what in ("control", "ratio") for word in words]
    yield f"| kernel | cold µs | {' | '.join(heads)} | verdict |"
    yield "|---" * (len(heads) + 3) + "|"
    for one in sorted(data["kernels"], key=lambda one: _microseconds(one["runs"])):
        if all(one["runs"]):
            yield _row(one)


def _row(one: dict[str, Any]) -> str:
    runs = one["runs"]
    controls = [_interval(run["control"]["cold"]) for run in runs]
    ratios = [_interval(run["ratio"]["cold"]) if "ratio" in run else run["why"] for run in runs]
    verdicts = ", ".join(run.get("verdict", "-") for run in runs)
    return "| " + " | ".join([one["kernel"], f"{_microseconds(runs):.2f}", *controls, *ratios, verdicts]) + " |"


def _microseconds(runs: list[dict[str, Any]]) -> float:
    return float(runs[0]["microseconds"]["cold"]) if runs[0] else 0.0


def _interval(value: dict[str, float]) -> str:
    return f"{value['median']:.3f} ({value['low']:.3f} to {value['high']:.3f})"
