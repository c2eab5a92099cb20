"""The section on timing itself says what the file says; without the file there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skel.measured_controls import CONTROLS, controls_section


def run(microseconds: float, **fields: Any) -> dict[str, Any]:
    interval = {"median": 1.001, "low": 0.999, "high": 1.002}
    return {"microseconds": {"cold": microseconds}, "control": {"cold": interval}, **fields}


def test_the_section(tmp_path: Path) -> None:
    assert controls_section(tmp_path) == []
    ratio = {"cold": {"median": 1.2, "low": 1.1, "high": 1.3}}
    timed = [run(30.0, ratio=ratio, verdict="faster"), run(31.0, ratio=ratio, verdict="neutral")]
    data = {
        "environment": {"device": "A GPU", "driver": "1.2", "torch": "2.0", "triton": "3.0"},
        "timer": "cuda graph",
        "measured_at": [0.0, 86400.0],
        "kernels": [{"kernel": "long", "runs": timed}, {"kernel": "short", "runs": [run(2.0, why="spills")] * 2}],
        "summary": {
            "kernels": 2, "measured": 2, "controls_inside": [2, 1], "interval": [0.98, 1.02], "near": [0.97, 1.06],
            "decided": 1, "same_verdict": 0, "same_verdict_by_process": 0,
        },
    }
    path = tmp_path / CONTROLS
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(data))
    lines = controls_section(tmp_path)
    assert "measured 1970-01-02" in lines[2] and "2 and 1 of 2" in lines[4] and "0 of 1" in lines[5]
    assert lines[-2].startswith("| short | 2.00 |") and "spills" in lines[-2]
    assert lines[-1].endswith("| 1.200 (1.100 to 1.300) | 1.200 (1.100 to 1.300) | faster, neutral |")


def test_what_was_measured_once_is_not_said_to_be_the_same_twice(tmp_path: Path) -> None:
    ratio = {"cold": {"median": 1.2, "low": 1.1, "high": 1.3}}
    data = {
        "environment": {"device": "A GPU", "driver": "1.2", "torch": "2.0", "triton": "3.0"},
        "timer": "cuda graph",
        "measured_at": [0.0],
        "kernels": [
            {"kernel": "long", "runs": [run(30.0, ratio=ratio, verdict="faster")]},
            {"kernel": "cut", "runs": [None]},
        ],
        "summary": {
            "kernels": 2, "measured": 1, "controls_inside": [1], "interval": [0.98, 1.02], "near": [0.97, 1.06],
            "decided": 1, "same_verdict": None, "same_verdict_by_process": 1,
        },
    }
    path = tmp_path / CONTROLS
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(data))
    text = "\n".join(controls_section(tmp_path))
    assert "whole protocol, once" in text and "both times" not in text
    assert "not measured to the end: cut" in text
    assert text.endswith("| long | 30.00 | 1.001 (0.999 to 1.002) | 1.200 (1.100 to 1.300) | faster |")
