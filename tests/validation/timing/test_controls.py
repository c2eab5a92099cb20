"""Timing tried on itself: the kernels in both settings agree; a table from two states; what breaks a promise."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from skel.validation.isolation import Workers
from skel.validation.protocol import Protocol
from skel.validation.timing.controls import RUNS, controls_plan, kept, lines, measure, table
from skel.validation.timing.plan import Plan, PlanError
from skel.validation.timing.state import State
from skel.validation.timing.work import Work

from .made import add_finals, screened
from .test_work import NUMBERS

ROOT = Path(__file__).resolve().parents[3]
KERNELS = ROOT / "examples" / "controls" / "kernels.py"
TEXT = KERNELS.read_text(encoding="utf-8")
AGREE = """
import importlib.util, sys, torch
loaded = []
for name, path in (("original", sys.argv[1]), ("changed", sys.argv[2])):
    spec = importlib.util.spec_from_file_location(name, path)
    loaded.append(importlib.util.module_from_spec(spec))
    spec.loader.exec_module(loaded[-1])
for workload in loaded[0].WORKLOADS:
    inputs = loaded[0].make_inputs(0, **{key: value for key, value in workload.items() if key != "name"})
    first, second = (one.run(inputs) for one in loaded)
    first, second = (one if isinstance(one, tuple) else (one,) for one in (first, second))
    for right, got in zip(first, second, strict=True):
        assert right.isfinite().all() and right.abs().max() > 0, workload["name"]
        torch.testing.assert_close(got.double(), right.double(), rtol=1e-2, atol=1e-2, msg=workload["name"])
    print(workload["name"])
"""


def test_every_case_gives_the_same_in_both_settings(tmp_path: Path) -> None:
    plan = controls_plan(TEXT, str(KERNELS))
    (tmp_path / "changed.py").write_text(plan.candidates[0].text)
    command = [sys.executable, "-c", AGREE, str(KERNELS), str(tmp_path / "changed.py")]
    done = subprocess.run(
        command, env=os.environ | {"TRITON_INTERPRET": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) >= 20


def test_a_file_without_the_switch_is_refused() -> None:
    with pytest.raises(PlanError):
        controls_plan("x = 1\n", "k.py")


def made(tmp_path: Path, ratios: list[float], controls: list[float], **fields: Any) -> dict[str, Any]:
    """The table of two runs of one kernel."""
    plan = controls_plan(TEXT, "kernels.py")
    plan = Plan(plan.subject, None, plan.candidates, None, Protocol().override({"timing.bootstrap_resamples": 200}))
    states = []
    for name, ratio, control in zip(RUNS, ratios, controls, strict=True):
        state = screened(tmp_path / name, plan, {"changed": {"add": ratio}})
        add_finals(state, "add", {"changed": ratio, "control": control}, **fields)
        states.append(state)
    return table(plan, states)


def test_the_table_and_its_promises(tmp_path: Path) -> None:
    fine = made(tmp_path / "fine", [1.2, 1.21], [1.0, 1.0])
    assert kept(fine) and fine["summary"]["decided"] == 1
    assert [run["verdict"] for run in fine["kernels"][0]["runs"]] == ["faster", "faster"]
    assert any("faster" in line for line in lines(fine))
    assert not kept(made(tmp_path / "off", [1.2, 1.2], [1.05, 1.0])), "a control outside"
    assert not kept(made(tmp_path / "moved", [1.2, 0.8], [1.0, 1.0])), "another verdict the second time"
    near = made(tmp_path / "near", [1.05, 0.98], [1.0, 1.0])
    assert kept(near) and near["summary"]["decided"] == 0, "so near to 1 nothing is promised"


def test_what_cannot_be_timed_says_why(tmp_path: Path) -> None:
    plan = controls_plan(TEXT, "kernels.py")
    states = []
    for name in RUNS:
        state = screened(tmp_path / name, plan, {"changed": {}, "other": {"add": 1.0}})
        add_finals(state, "add", {})
        states.append(state)
    document = table(plan, states)
    assert [run["why"] for run in document["kernels"][0]["runs"]] == ["spills", "spills"]
    assert document["summary"]["measured"] == 1 and document["summary"]["decided"] == 0


def test_twice_from_start_to_end(tmp_path: Path, interpreting: Workers) -> None:
    text = TEXT + "\nWORKLOADS = WORKLOADS[:1]\n"
    plan = controls_plan(text, str(KERNELS))
    assert plan.numbers.timing.final_samples == Protocol().timing.final_samples, "the full protocol"
    quick = NUMBERS.override({"timing.own_warps": (), "timing.processes": 1})
    plan = Plan(plan.subject, None, plan.candidates, None, quick)

    def work(plan: Plan, folder: Path, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        state = State(folder, plan.id)
        return Work(plan, state, interpreting, deadline, device="cpu", timer="host clock", say=lambda _: None).run()

    assert measure(plan, tmp_path, 300.0, work)
    document = table(plan, [State(tmp_path / name, plan.id) for name in RUNS])
    assert document["summary"]["measured"] == 1 and document["timer"] == "host clock"
    first = document["kernels"][0]["runs"][0]
    assert first["host_microseconds"] is None or first["host_microseconds"] > 0
    assert all(audit["changed"]["tensors"] == [3, 3] for audit in first["audited"])
