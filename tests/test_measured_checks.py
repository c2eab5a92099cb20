"""The part of docs/measurements.md on checks on a GPU: what it says of misses."""

from __future__ import annotations

import json
from pathlib import Path

from skel.measured_checks import CHECKS, checks_section

DATA = {
    "environment": {"device": "GPU X", "driver": "1", "torch": "2", "triton": "3"},
    "measured_at": "2026-12-01",
    "exploits": {"caught": ["other_stream"], "missed": ["hang"], "honest_candidates_pass": False},
    "capture": {
        "package": "p==1", "license": "MIT", "script": "s.py",
        "calls": [{"name": "f", "tensors": 2, "equal": 1, "close": 2},
                  {"name": "f", "tensors": 1, "equal": 1, "close": 1}],
    },
}  # fmt: skip


def test_without_the_file_there_is_no_section(tmp_path: Path) -> None:
    assert checks_section(tmp_path) == []


def test_what_was_missed_and_what_differed_is_told(tmp_path: Path) -> None:
    path = tmp_path / CHECKS
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(DATA), encoding="utf-8")
    text = "\n".join(checks_section(tmp_path))
    assert "1 of 2 caught by name (other_stream)" in text and "honest candidates beside them do not pass" in text
    assert "2 calls of 1 operators, 2 of 3 tensors equal to the bit" in text
