"""The part of docs/measurements.md on timing itself: kernels against themselves, and against a changed form, twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

CONTROLS = "docs/measured/controls.json"
"""What `python -m skel.validation.timing.controls` wrote."""


def controls_section(clone: Path) -> list[str]:
    """The section; empty where nothing was measured."""
    path = clone / CONTROLS
    return list(_section(json.loads(path.read_text(encoding="utf-8")))) if path.exists() else []


def _section(data: dict[str, Any]) -> Iterator[str]:
    where, found = data["environment"], data["summary"]
    low, high = found["interval"]
    day = datetime.fromtimestamp(max(data["measured_at"]), UTC).date()
    inside = " and ".join(str(count) for count in found["controls_inside"])
    yield "## How far timing can be trusted: examples/controls/kernels.py"
    yield ""
    yield (
        f"{where['device']}, driver {where['driver']}, torch {where['torch']}, Triton {where['triton']}; "
        f"{data['timer']}; measured {day}. Each kernel against itself (control) and against a changed form, by the "
        "whole protocol, twice."
    )
    yield ""
    yield f"- controls inside {low} to {high}: {inside} of {found['measured']}, the first and the second time"
    yield (
        f"- the same verdict both times: {found['same_verdict']} of {found['decided']} kernels whose ratio is outside "
        f"{found['near'][0]} to {found['near'][1]} both times"
    )
    yield ""
    yield "| kernel | cold µs | control, first | control, second | ratio, first | ratio, second | verdicts |"
    yield "|---|---|---|---|---|---|---|"
    for one in sorted(data["kernels"], key=lambda one: _microseconds(one["runs"])):
        yield _row(one)


def _row(one: dict[str, Any]) -> str:
    runs = one["runs"]
    controls = [_interval(run["control"]["cold"]) for run in runs]
    ratios = [_interval(run["ratio"]["cold"]) if "ratio" in run else run["why"] for run in runs]
    verdicts = ", ".join(run.get("verdict", "-") for run in runs)
    return "| " + " | ".join([one["kernel"], f"{_microseconds(runs):.2f}", *controls, *ratios, verdicts]) + " |"


def _microseconds(runs: list[dict[str, Any]]) -> float:
    return float(runs[0]["microseconds"]["cold"])


def _interval(value: dict[str, float]) -> str:
    return f"{value['median']:.3f} ({value['low']:.3f} to {value['high']:.3f})"
