"""The part of docs/measurements.md on the agent: what it shows of a file of calls."""

from __future__ import annotations

import json
from pathlib import Path

from skel.measured_agent import AGENT, agent_section

CALLS = [
    {"tool": "scan_kernel", "arguments": {"file": "k.py"}, "seconds": 1.5, "state": "running", "next": ["get_job"]},
    {"tool": "get_job", "arguments": {"job": "job_1"}, "seconds": 30.0, "state": "running",
     "progress": {"step": "timing", "done": 4, "message": "done | time_own in 3 s"}, "next": ["get_job"]},
    {"tool": "apply_skeleton", "arguments": {"file": "k.py", "skeleton": "fuse_vtiles"}, "seconds": 200.2,
     "state": "done", "summary": "faster", "verdict": "faster", "findings": ["guard_emitted"],
     "next": ["add_evidence"]},
    {"tool": "benchmark", "arguments": {}, "seconds": 0.1, "error": {"code": "not_here", "message": "", "hint": ""}},
    {"tool": "add_evidence", "arguments": {"job": "job_1"}, "seconds": 0.1, "reference": "skel://evidence/x/1"},
]  # fmt: skip
DATA = {
    "file": "examples/k.py", "verdict": "faster", "seconds": 239.6, "measured_at": "2026-12-01T16:00:00+00:00",
    "environment": {"device": "GPU X", "driver": "1", "torch": "2", "triton": "3"}, "calls": CALLS,
    "workloads": [{"label": "n64", "chosen": "loop", "ratio": {"cold": {"median": 1.9, "low": 1.8, "high": 2.0}}},
                  {"label": "n1", "chosen": "original", "ratio": None}],
}  # fmt: skip


def test_without_the_file_there_is_no_section(tmp_path: Path) -> None:
    assert agent_section(tmp_path) == []


def test_every_call_and_what_came_of_it_is_shown(tmp_path: Path) -> None:
    (tmp_path / AGENT).parent.mkdir(parents=True)
    (tmp_path / AGENT).write_text(json.dumps(DATA))
    text = "\n".join(agent_section(tmp_path))
    assert "Verdict: **faster**, in 5 calls and 240 s. GPU X, driver 1" in text and "measured 2026-12-01" in text
    assert "| n64 | loop | 1.900 (1.800 to 2.000) |" in text and "| n1 | original | - |" in text
    rows = [line for line in text.splitlines() if line.count(" | ") == 4][1:]
    assert rows[0] == "| scan_kernel k.py | 1.5 | running |  | get_job |"
    assert rows[1] == "| get_job | 30.0 | running: done \\| time_own in 3 s |  | get_job |"
    assert rows[2] == "| apply_skeleton fuse_vtiles k.py | 200.2 | faster | guard_emitted | add_evidence |"
    assert rows[3].startswith("| benchmark | 0.1 | not_here |") and "skel://evidence/x/1" in rows[4]
