"""Our own traps, in the form of tests/eval/traps: verdict, code and line, and every candidate in the interpreter.

`expected.json` has, beside what eval/README.md says: `loop_tiles`, the verdict of that skeleton on the same file;
`needs_gpu`, where Triton's interpreter cannot run the original.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.random_kernels.interpreting import Job, Ran, interpret
from tests.random_kernels.rewriting import FEW, Rewritten, rewrite

HERE = Path(__file__).parent
EXPECTED: list[dict[str, Any]] = json.loads((HERE / "expected.json").read_text())
FILES = [entry["file"] for entry in EXPECTED]
REASSOCIATED = frozenset({"u05_atomic_partial.py", "u07_slot_summed.py", "u39_partial_by_where.py"})
"""Traps whose partial sums a wider tile adds in another order; everywhere else equality is to the bit."""


@pytest.fixture(scope="module")
def rewritten() -> dict[str, Rewritten]:
    return {name: rewrite((HERE / name).read_bytes().decode(), str(HERE / name), None, FEW) for name in FILES}


@pytest.fixture(scope="module")
def ran(rewritten: dict[str, Rewritten]) -> dict[str, Ran]:
    jobs = [
        Job(e["file"], (HERE / e["file"]).read_bytes().decode(), rewritten[e["file"]].candidates)
        for e in EXPECTED
        if not e.get("needs_gpu") and rewritten[e["file"]].candidates
    ]
    return {one.name: one for one in interpret(jobs)}


def test_every_file_is_expected() -> None:
    assert sorted(FILES) == sorted(p.name for p in HERE.glob("u*.py"))
    assert len(FILES) >= 40


@pytest.mark.parametrize("entry", EXPECTED, ids=[e["file"][:-3] for e in EXPECTED])
def test_verdict(entry: dict[str, Any], rewritten: dict[str, Rewritten]) -> None:
    made = rewritten[entry["file"]]
    assert made.bugs == []
    fused = [name for name in made.candidates if name.startswith("fuse_vtiles:")]
    refused = [r for title, found in made.refusals.items() if title.startswith("fuse_vtiles:form=widen") for r in found]
    also = entry.get("also_ok", {}).get("verdict")
    if entry["verdict"] == "rewrite":
        assert fused or also == "refuse", refused
    elif not (fused and also == "rewrite"):
        assert not fused
        found = [lines for code, lines in refused if code == entry["reason"]]
        assert found, refused
        assert "lines" not in entry or any(set(lines) & set(entry["lines"]) for lines in found), found


@pytest.mark.parametrize("entry", [e for e in EXPECTED if "loop_tiles" in e], ids=lambda e: e["file"][:-3])
def test_verdict_of_the_loop(entry: dict[str, Any], rewritten: dict[str, Rewritten]) -> None:
    looped = [name for name in rewritten[entry["file"]].candidates if name.startswith("loop_tiles:")]
    assert bool(looped) == (entry["loop_tiles"] == "rewrite"), rewritten[entry["file"]].refusals


@pytest.mark.slow
@pytest.mark.parametrize("name", [e["file"] for e in EXPECTED if not e.get("needs_gpu")])
def test_candidates_agree_with_the_original(name: str, rewritten: dict[str, Rewritten], ran: dict[str, Ran]) -> None:
    if not rewritten[name].candidates:
        pytest.skip("refused")
    assert ran[name].original == "equal", ran[name].why
    good = {"equal", "close"} if name in REASSOCIATED else {"equal"}
    wrong = {c: (w, ran[name].reasons[c]) for c, w in ran[name].candidates.items() if w not in good}
    assert not wrong


def test_a_rewrite_leaves_other_lines_alone(rewritten: dict[str, Rewritten]) -> None:
    """Comments, continued lines, tabs and line ends of what does not change stay to the byte."""
    before = (HERE / "u33_text.py").read_bytes().decode()
    for text in rewritten["u33_text.py"].candidates.values():
        assert text.count("\n") == text.count("\r\n")
        kept = [line for line in before.splitlines() if line.strip() and line.lstrip("\t") in text]
        changed = [line for line in before.splitlines() if line.strip() and line.lstrip("\t") not in text]
        assert len(kept) > 25 and len(changed) <= 5, changed
