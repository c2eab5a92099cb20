"""What of a job becomes evidence: what was measured, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from skel.agent.errors import CallError
from skel.agent.tools.add_evidence import evidence_of
from skel.store.jobs import Job

ENVIRONMENT = {"device": "NVIDIA H200", "triton": "3.7.1"}
NUMERICS = {"device": "cpu", "class": "reassociated", "candidates": [{"name": "c", "workloads": [{"label": "small"}]}]}
TIMING = {"timed": True, "timer": "graph", "workloads": [{"label": "big", "ratio": 1.4}]}


def job(tool: str = "apply_skeleton", state: str = "done", **document: Any) -> Job:
    base = {
        "skeleton": "fuse_vtiles", "file": "a.py", "kernel": "k", "verdict": "equivalent", "findings": [],
        "candidates": [{"name": "c", "chosen": True, "settings": {"form": "loop"}}], "compile": None,
        "numerics": NUMERICS, "timing": {"timed": False}, "environment": ENVIRONMENT, "source_sha256": "0" * 64,
        "candidate_sha256": "1" * 64, "protocol": {"timing": {"final_samples": 50}},
    }  # fmt: skip
    result = {"summary": "", "report": base | document}
    return Job("job_0123456789abcdef", tool, ("/a",), {}, state, None, result, None, None, None, "2026", None,  # type: ignore[arg-type]
               "2026-01-02T03:04:05+00:00", 1)  # fmt: skip


def test_numerics_are_kept_with_settings_hashes_and_protocol() -> None:
    found = evidence_of(job(), None)
    assert (found.skeleton, found.level, found.verdict.value) == ("fuse_vtiles", "numerics", "equivalent")
    assert found.settings == {"form": "loop"} and found.workloads == ({"label": "small"},)
    assert found.candidate_sha256 == "1" * 64 and found.protocol == {"timing": {"final_samples": 50}}
    assert "candidates" not in found.numerics


def test_what_a_rerun_needs_is_kept() -> None:
    assert evidence_of(job(), None).rerun is None, "a comparison of files has nothing to apply again"
    needed = {"path": "a.py", "sidecar": "hooks.py", "sidecar_sha256": "2" * 64, "settings": {"nk": 1}}
    kept = evidence_of(job(rerun=needed), None).rerun
    assert kept is not None and kept.model_dump(exclude_none=True) == needed


def test_a_timing_is_kept_by_workload_a_losing_one_too() -> None:
    found = evidence_of(job(timing=TIMING, verdict="slower", numerics=None), None)
    assert (found.level, found.verdict.value) == ("timing", "slower")
    assert found.workloads == ({"label": "big", "ratio": 1.4},) and found.timing == {"timed": True, "timer": "graph"}


def test_a_comparison_of_files_needs_a_skeleton() -> None:
    compared = job("check_equivalence", skeleton=None)
    assert evidence_of(compared, "loop_tiles").skeleton == "loop_tiles"
    with pytest.raises(CallError, match="no_evidence"):
        evidence_of(compared, None)


@pytest.mark.parametrize(
    ("given", "skeleton", "code"),
    [
        (job("scan_kernel"), None, "no_evidence"),
        (job(state="running"), None, "job_not_done"),
        (job(numerics=None, verdict="not_applicable"), None, "no_evidence"),
        (job(), "div_to_reciprocal", "no_evidence"),
    ],
)
def test_nothing_is_made_of_what_measured_nothing(given: Job, skeleton: str | None, code: str) -> None:
    with pytest.raises(CallError) as raised:
        evidence_of(given, skeleton)
    assert raised.value.code == code
