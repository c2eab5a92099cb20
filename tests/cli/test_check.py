"""check: two versions of a file, compared on the original's workloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from skel.validation.document import Document
from tests.cli.running import Skel
from tests.cli.test_apply import ORIGINAL, RIGHT, WRONG


@pytest.mark.parametrize(("candidate", "status", "verdict"), [(RIGHT, 0, "equivalent"), (WRONG, 1, "wrong")])
def test_verdicts(skel: Skel, candidate: str, status: int, verdict: str) -> None:
    Path("a.py").write_text(ORIGINAL)
    Path("b.py").write_text(candidate)
    ended = skel("check", "a.py", "b.py", "--json")
    document = Document.model_validate(ended.document)
    assert (ended.status, document.verdict) == (status, verdict)
    assert document.file == "a.py" and document.candidates[0]["name"] == "b.py"
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["a.py", "b.py"]


def test_people_see_what_differs_and_where(skel: Skel) -> None:
    Path("a.py").write_text(ORIGINAL)
    Path("b.py").write_text(WRONG)
    lines = skel("check", "a.py", "b.py").out.splitlines()
    assert lines[0].startswith("wrong: a.py")
    assert any("error b.py values_differ: output differs" in line and "two" in line for line in lines)
    at = WRONG.splitlines().index(next(line for line in WRONG.splitlines() if "* 3" in line)) + 1
    assert any(f"error b.py:{at} wrong_change" in line for line in lines), lines
    assert any("wrong_element" in line and "program" in line for line in lines)


def test_a_missing_file_is_wrong_use(skel: Skel) -> None:
    Path("a.py").write_text(ORIGINAL)
    ended = skel("check", "a.py", "none.py")
    assert ended.status == 2 and "none.py" in ended.err
