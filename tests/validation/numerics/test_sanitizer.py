"""compute-sanitizer by a stand-in: its log read, findings of a target under it, and what is said where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from skel.validation.check import check
from skel.validation.findings import finding
from skel.validation.isolation import Workers
from skel.validation.numerics import trees
from skel.validation.numerics.sanitizer import read_log
from skel.validation.protocol import Protocol
from skel.validation.sanitizing import sanitize
from skel.validation.subject import Subject

TARGET = Path(__file__).parents[1] / "exploits" / "target.py"
TEXT = TARGET.read_text(encoding="utf-8")
MEMCHECK = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at norm_kernel+0x1f0 in /somewhere/target.py:14
=========     by thread (31,0,0) in block (2,0,0)
=========     Address 0x7f00 is out of bounds
========= Invalid __global__ write of size 4 bytes
=========     at norm_kernel+0x1f0 in /somewhere/target.py:14
========= ERROR SUMMARY: 2 errors
"""
RACECHECK = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at norm_kernel+0x80 in /somewhere/target.py:13
=========     and Read access at norm_kernel+0x90 [8 hazards]
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
FAKE = f"""#!/bin/sh
tool=$2 log=$4; shift 6
if [ $tool = memcheck ]; then "$@" || exit 1; else echo SANITIZED RUN DONE; fi
case "$(cat job.json)" in *BROKEN*) ;; *) echo "========= ERROR SUMMARY: 0 errors" > "$log"; exit 0;; esac
if [ $tool = memcheck ]; then cat > "$log" <<'LOG'
{MEMCHECK}LOG
else cat > "$log" <<'LOG'
{RACECHECK}LOG
fi
"""


def test_a_log_is_read() -> None:
    what = {"kernel": "norm_kernel", "line": 14, "what": "Invalid __global__ write of size 4 bytes"}
    assert read_log(MEMCHECK) == [what], "the same error is told once"
    (race,) = read_log(RACECHECK)
    assert (race["kernel"], race["line"]) == ("norm_kernel", 13) and race["what"].startswith("Error: Race reported")
    assert read_log("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n") == []


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    """With a stand-in for the tool on the path; it complains of what calls itself BROKEN."""
    tool = tmp_path / "bin" / "compute-sanitizer"
    tool.parent.mkdir()
    tool.write_text(FAKE, encoding="utf-8")
    tool.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents[:2], tool.parent):
        folder.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    with Workers("interpret", Protocol().isolation) as running:
        yield running


def test_findings_of_a_target_under_it(workers: Workers) -> None:
    exchange = workers.folder("exchange")
    exchange.chmod(0o755)
    trees.save({"x": torch.randn(3, 11)}, exchange / "c0.pt")
    (exchange / "c0.pt").chmod(0o644)
    texts = {"original": TEXT, "bad": TEXT + "# BROKEN\n", "raises": TEXT + "\n1 / 0\n"}
    subjects = {name: Subject(text, str(TARGET), "target") for name, text in texts.items()}
    found = sanitize(workers, subjects, "c0", exchange, "cpu", 120)
    assert found["original"] == []
    assert [(one.code, one.severity, one.place.line) for one in found["bad"]] == [
        ("sanitizer_error", "error", 14), ("sanitizer_error", "error", 13),
    ]  # fmt: skip
    assert {one.code for one in found["raises"]} == {"sanitizer_not_run"}
    assert all("ZeroDivisionError" in str(one.data["why"]) for one in found["raises"])


def test_where_the_tool_is_not_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skel.validation.sanitizing.here", lambda: False)
    nobody: object = None
    found = sanitize(nobody, {"it": Subject(TEXT, str(TARGET), "target")}, "c0", Path(), "cuda", 1)  # type: ignore[arg-type]
    (one,) = found["it"]
    assert one.code == "sanitizer_not_run" and one.severity == "info" and "guard zones" in str(one.hint)


def test_what_is_found_there_makes_a_candidate_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check as on a GPU, with the tool's word made up: the interpreter runs the rest."""
    told = finding("sanitizer_error", severity="error", tool="memcheck", what="it", error="Invalid write")
    asked: list[list[str]] = []

    def made_up(workers: object, subjects: dict[str, Subject], *rest: object) -> dict[str, list[object]]:
        asked.append(list(subjects))
        return {name: [told] if name == "candidate 1" else [] for name in subjects}

    monkeypatch.setattr("skel.validation.check.sanitize", made_up)
    monkeypatch.setattr("skel.validation.check.here", lambda: True)
    monkeypatch.setattr("skel.validation.session.Session.on_gpu", True)
    wrong = TEXT.replace("+ 1e-6", "+ 1.0")
    report = check(TEXT, [TEXT, TEXT + "# again\n", wrong], str(TARGET))
    assert [one.verdict.value for one in report.candidates] == ["wrong", "equivalent", "wrong"]
    assert asked == [["original", "candidate 1", "candidate 2"]], "what is wrong already is not run again"
