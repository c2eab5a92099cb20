"""A bundle worked off without a GPU, in Triton's interpreter, and what is done again after it was cut off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from skel.validation.ablation.lines import Lines
from skel.validation.ablation.prepare import prepare
from tests.validation.ablation.wheels import PLACE, wheel

RATIO = {"median": 1.5, "low": 1.4, "high": 1.6}
CONTROL = {"median": 1.0, "low": 0.99, "high": 1.01}


def test_a_run(tmp_path: Path) -> None:
    prepare([wheel(tmp_path)], tmp_path / "bundle")
    state = Lines(tmp_path / "state")
    # Timed before: checked again, since that was lost, and not timed again.
    times = {"original": 10.0, "rsqrt_to_division": 15.0, "drop_cache_hints": 15.0}
    ratios = {"rsqrt_to_division": RATIO, "drop_cache_hints": RATIO}
    place = {"case": "fla_l2norm", "kernel": "rows_kernel", "file": PLACE}
    state.add("time", **place, microseconds=times, ratio=ratios, control=CONTROL, samples=32)
    state.add("time", case="fla_l2norm", done=True)
    assert _run(tmp_path) == 0
    lines = [line for line in state.all("check") if "equal" in line]
    assert {line["version"]: line["equal"] for line in lines} == {
        "rsqrt_to_division": "bitwise",
        "drop_cache_hints": "bitwise",
        "half_the_warps": "bitwise",
    }
    assert all(line["deterministic"] and line["tensors_written"] == 1 for line in lines)
    found = json.loads((tmp_path / "state" / "ablation.json").read_text())
    assert [(row["technique"], row["verdict"]) for row in found["rows"]] == [
        ("cache_hints", "pays"),
        ("div_to_reciprocal", "pays"),
    ]
    before = (tmp_path / "state" / "check.jsonl").read_text()
    assert _run(tmp_path) == 0
    assert (tmp_path / "state" / "check.jsonl").read_text() == before


def _run(folder: Path) -> int:
    command = [sys.executable, "-m", "skel.validation.ablation.run", "fla_l2norm", "--small", "--workers", "1"]
    command += ["--bundle", str(folder / "bundle"), "--state", str(folder / "state"), "--seconds", "100"]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        [*command, "--device", "cpu", "--timer", "host clock"], env=environment, capture_output=True, text=True
    )
    assert done.returncode in (0, 3), done.stderr[-2000:]
    return done.returncode
