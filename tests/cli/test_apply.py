"""apply: its options, what it writes and when, and the way from candidates to a verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import skel.apply
import skel.rewriter.engine
import skel.validation.check
from skel.rewriter.reasons import finding, refusal
from skel.rewriter.result import Bug, Refused
from skel.store.schema import CODES, NumericsClass
from skel.validation.document import Document
from tests.cli.running import Ended, Skel

ORIGINAL = '''import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def run(inputs):
    y = torch.empty_like(inputs["x"])
    n = y.numel()
    scale[(triton.cdiv(n, 32),)](inputs["x"], y, n, BLOCK=32)
    return y


def make_inputs(seed, device="cpu", n=64):
    generator = torch.Generator().manual_seed(seed)
    return {"x": torch.randn(n, generator=generator).to(device)}


WORKLOADS = [{"name": "two", "n": 64}]
'''
RIGHT = ORIGINAL.replace("32", "64")
WRONG = ORIGINAL.replace("* 2, mask", "* 3, mask")
BROKEN = ORIGINAL.replace("tl.program_id(0)", "tl.no_such_function(0)")
WITHOUT_HOOKS = ORIGINAL.partition("def run")[0]


@dataclass(frozen=True)
class Candidate:
    """What the engine gives for one candidate."""

    name: str
    text: str
    settings: dict[str, Any] = field(default_factory=dict)
    numerics: NumericsClass = NumericsClass.BITWISE
    rank: int = 0
    findings: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Candidates:
    """What the engine gives for a kernel."""

    kernel: str
    items: tuple[Candidate, ...]
    findings: tuple[Any, ...] = ()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Put `engine["gives"]` in place of what the rewriter makes; `engine["asked"]` is what it was asked for."""
    state: dict[str, Any] = {"gives": None, "asked": None}

    def candidates(skeleton, text, path, kernel=None, settings=None, target="sm_90", wide=False):
        state["asked"] = (skeleton.name, text, path, kernel, settings, target)
        return state["gives"]

    monkeypatch.setattr(skel.rewriter.engine, "candidates", candidates, raising=False)
    return state


@pytest.fixture
def file(skel: Skel) -> Path:
    """The original in the working directory of `skel`."""
    path = Path("kernel.py")
    path.write_text(ORIGINAL)
    return path


def codes(ended: Ended) -> set[str]:
    return {found["code"] for found in ended.document["findings"]}


def test_the_right_candidate_of_the_best_rank_is_written(skel: Skel, engine: dict[str, Any], file: Path) -> None:
    engine["gives"] = Candidates("scale", (
        Candidate("second", ORIGINAL + "\n", rank=1),
        Candidate("first", RIGHT, {"tile": 64}, rank=0),
    ))
    ended = skel("apply", "fuse_vtiles", "kernel.py::scale", "--no-bench", "--json", "--set", "tile=64")
    document = ended.document
    assert ended.status == 0 and document["verdict"] == "equivalent"
    assert engine["asked"] == ("fuse_vtiles", ORIGINAL, "kernel.py", "scale", {"tile": 64}, "sm_90")
    assert document["out"] == "kernel_fuse_vtiles.py" and Path(document["out"]).read_text() == RIGHT
    assert file.read_text() == ORIGINAL
    first, second = document["candidates"]
    assert (first["name"], first["chosen"], first["verdict"]) == ("first", True, "equivalent")
    assert (second["chosen"], second["verdict"]) == (False, "compiled")
    assert first["registers"] > 0 and first["spill_bytes"] == 0 and first["programs"] == 1
    assert document["compile"]["original"]["programs"] == 2
    assert document["numerics"]["device"] and document["environment"]["triton"]
    assert document["timing"] == {"timed": False, "why": "--no-bench"}
    assert Document.model_validate(document).verdict == "equivalent"


def test_a_wrong_candidate_writes_nothing(skel: Skel, engine: dict[str, Any], file: Path) -> None:
    engine["gives"] = Candidates("scale", (Candidate("only", WRONG),))
    ended = skel("apply", "fuse_vtiles", "kernel.py", "--json")
    assert ended.status == 1 and ended.document["verdict"] == "wrong"
    assert ended.document["out"] is None and "values_differ" in codes(ended)
    assert [path.name for path in Path.cwd().iterdir()] == ["kernel.py"]


def test_a_candidate_that_does_not_compile_is_passed_over(skel: Skel, engine: dict[str, Any], file: Path) -> None:
    engine["gives"] = Candidates("scale", (Candidate("broken", BROKEN, rank=0), Candidate("right", RIGHT, rank=1)))
    ended = skel("apply", "fuse_vtiles", "kernel.py", "--diff", "--json")
    assert ended.document["verdict"] == "equivalent"
    assert [one["verdict"] for one in ended.document["candidates"]] == ["failed", "equivalent"]
    assert "+    scale[(triton.cdiv(n, 64),)]" in ended.document["diff"]
    assert [path.name for path in Path.cwd().iterdir()] == ["kernel.py"]


def test_all_broken_is_failed_with_the_reason(skel: Skel, engine: dict[str, Any], file: Path) -> None:
    engine["gives"] = Candidates("scale", (Candidate("broken", BROKEN),))
    ended = skel("apply", "fuse_vtiles", "kernel.py", "--json")
    assert ended.status == 1 and ended.document["verdict"] == "failed"
    assert "compile_failed" in codes(ended) and ended.document["numerics"] is None


def test_without_a_way_to_run_it_nothing_is_claimed(skel: Skel, engine: dict[str, Any]) -> None:
    Path("kernel.py").write_text(WITHOUT_HOOKS)
    engine["gives"] = Candidates("scale", (Candidate("only", WITHOUT_HOOKS + "\n"),))
    ended = skel("apply", "fuse_vtiles", "kernel.py", "--json")
    assert "no_workload" in codes(ended)
    assert ended.document["verdict"] in ("compiled", "inconclusive")
    assert ended.document["numerics"] is None or not ended.document["numerics"]["candidates"][0]["workloads"]


def test_a_refusal_is_not_applicable_with_its_code_and_line(skel: Skel, engine: dict[str, Any], file: Path) -> None:
    engine["gives"] = Refused((refusal("no_tiled_axis", 7, kernel="scale"),))
    ended = skel("apply", "fuse_vtiles", "kernel.py", "--json")
    assert ended.status == 1 and Document.model_validate(ended.document).verdict == "not_applicable"
    assert ended.document["refusals"][0]["code"] == "no_tiled_axis" and ended.document["refusals"][0]["line"] == 7
    out = skel("apply", "fuse_vtiles", "kernel.py").out
    assert out.startswith("not_applicable") and "kernel.py:7 no_tiled_axis" in out
    assert CODES["no_tiled_axis"].hint in out


def test_advice_is_not_applicable_and_the_engine_is_not_asked(skel: Skel, engine: dict[str, Any], file: Path) -> None:
    ended = skel("apply", "fuse_epilogue", "kernel.py", "--json")
    assert ended.status == 1 and ended.document["refusals"][0]["code"] == "advice_only"
    assert engine["asked"] is None


def test_a_fault_of_the_rewriter_is_status_3_with_its_traceback(skel: Skel, engine: dict[str, Any], file: Path) -> None:
    engine["gives"] = Bug("widening the tile", "Traceback: deep inside")
    ended = skel("apply", "fuse_vtiles", "kernel.py", "--json")
    assert ended.status == 3 and "widening the tile" in ended.err
    assert "deep inside" in Path(ended.document["error"]["where"]).read_text()


def test_people_read_the_verdict_first_and_the_next_step_last(skel: Skel, engine: dict[str, Any], file: Path) -> None:
    seen = finding("same_value_store", axis="i", name="y")
    engine["gives"] = Candidates("scale", (Candidate("first", RIGHT),), (seen,))
    lines = skel("apply", "fuse_vtiles", "kernel.py", "-o", "new.py").out.splitlines()
    assert lines[0].startswith("equivalent: fuse_vtiles on kernel.py::scale")
    assert lines[1].split()[:2] == ["candidate", "registers"]
    assert lines[2].startswith("original") and lines[3].startswith("first")
    assert any("same_value_store" in line for line in lines)
    assert lines[-2:] == ["wrote new.py", "next: diff -u kernel.py new.py"]
    assert Path("new.py").read_text() == RIGHT


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch, engine: dict[str, Any]) -> list[str]:
    """Skip compiling and running: every candidate set is judged equivalent. The list names what was judged."""
    seen: list[str] = []

    def judge(progress, protocol):
        progress.chosen = progress.candidates.items[0]
        seen.append(progress.job.file)
        return progress.end(skel.apply.Verdict.EQUIVALENT)

    monkeypatch.setattr(skel.apply, "_judge", judge)
    engine["gives"] = Candidates("scale", (Candidate("first", RIGHT),))
    return seen


def test_in_place_writes_the_file_itself(skel: Skel, judged: list[str], file: Path) -> None:
    assert skel("apply", "fuse_vtiles", "kernel.py", "--in-place").status == 0
    assert file.read_text() == RIGHT and [path.name for path in Path.cwd().iterdir()] == ["kernel.py"]


def test_the_result_goes_into_the_working_directory(skel: Skel, judged: list[str], tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "k.py").write_bytes(ORIGINAL.replace("\n", "\r\n").encode())
    ended = skel("apply", "fuse_vtiles", str(tmp_path / "elsewhere" / "k.py"), "--json")
    assert ended.document["out"] == "k_fuse_vtiles.py" and Path("k_fuse_vtiles.py").exists()
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["k.py"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--diff", "--in-place"], "contradict"),
        (["-o", "x.py", "--in-place"], "contradict"),
        (["-o", "kernel.py"], "--in-place"),
        (["-o", "nowhere/x.py"], "cannot be written"),
        (["-o", "."], "cannot be written"),
        (["--set", "form"], "KEY=VALUE"),
        (["--target", "sm_1"], "sm_90"),
        (["--workload", "none.py"], "no file none.py"),
    ],
)
def test_wrong_options(skel: Skel, judged: list[str], file: Path, words: list[str], said: str) -> None:
    ended = skel("apply", "fuse_vtiles", "kernel.py", *words)
    assert ended.status == 2 and said in ended.err
    assert judged == [] and file.read_text() == ORIGINAL


def test_an_unknown_skeleton_or_file_is_wrong_use(skel: Skel, judged: list[str], file: Path) -> None:
    assert skel("apply", "fuse_vtile", "kernel.py").status == 2
    assert skel("apply", "fuse_vtiles", "none.py").status == 2
    assert judged == []


def test_a_sidecar_for_another_file_is_wrong_use(skel: Skel, engine: dict[str, Any], file: Path) -> None:
    engine["gives"] = Candidates("scale", (Candidate("first", RIGHT),))
    Path("other.py").write_text("")
    Path("hooks.py").write_text('TARGET = "other.py"\n')
    ended = skel("apply", "fuse_vtiles", "kernel.py", "--workload", "hooks.py")
    assert ended.status == 2 and "other.py" in ended.err


def test_the_diff_is_a_patch() -> None:
    unended = "\\ No newline at end of file\n"
    head = "--- a/k.py\n+++ b/k.py\n@@ -1,2 +1,2 @@\n"
    assert skel.apply.unified_diff("a\nb", "a\nc", "k.py") == f"{head} a\n-b\n{unended}+c\n{unended}"
