"""bench: what it needs, plans, and results read from a state; how a measurement is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

import skel.bench
from skel.validation.document import Document
from skel.validation.timing.plan import read_plan
from tests.cli.running import Skel
from tests.validation.timing.made import add_finals, plan_of, screened

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXAMPLE = str(EXAMPLES / "kda_decode.py")


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skel.bench, "gpu_names", lambda: ())


def test_without_a_gpu_something_is_missing_and_what_to_do_is_said(skel: Skel, no_gpu: None) -> None:
    ended = skel("bench", EXAMPLE, EXAMPLE, "--json")
    assert ended.status == 4 and ended.document["error"]["status"] == 4
    assert "--plan" in ended.err


@pytest.mark.parametrize(
    "words",
    [[], [EXAMPLE], [EXAMPLE, EXAMPLE, "--skeleton", "fuse_vtiles"], [EXAMPLE, "none.py", "--plan", "p.json"],
     [EXAMPLE, EXAMPLE, "--plan", "p.json", "--number", "timing.nonsense=3"],
     ["--plan", "none.json", "--state", "s"]],
)
def test_wrong_use(skel: Skel, words: list[str]) -> None:
    assert skel("bench", *words).status == 2
    assert not Path("p.json").exists()


def test_a_plan_for_two_files(skel: Skel, no_gpu: None) -> None:
    target = f"{EXAMPLE}::kda_decode_kernel"
    ended = skel("bench", target, EXAMPLE, "--plan", "p.json", "--number", "timing.batch=3", "--json")
    assert ended.status == 0 and Document.model_validate(ended.document).out == "p.json"
    plan = read_plan(Path("p.json"))
    assert plan.kernel == "kda_decode_kernel" and plan.numbers.timing.batch == 3 and plan.skeleton is None
    assert [one.text for one in plan.candidates] == [plan.subject.text]


def test_a_skeleton_that_does_not_apply_gives_no_plan(skel: Skel, no_gpu: None) -> None:
    target = str(EXAMPLES / "masked_softmax.py")
    ended = skel("bench", target, "--skeleton", "fuse_vtiles", "--plan", "p.json", "--json")
    assert ended.status == 1 and ended.document["verdict"] == "not_applicable" and ended.document["refusals"]
    assert not Path("p.json").exists()


def test_a_result_is_read_kept_and_shown_with_its_losers(skel: Skel) -> None:
    plan = plan_of("loop", "widen")
    Path("p.json").write_text(plan.to_json())
    state = screened(Path("s"), plan, {"loop": {"a": 2.0, "b": 0.8}, "widen": {"a": 1.5, "b": 0.7}})
    for label, loop, widen in (("a", 2.0, 1.5), ("b", 0.8, 0.7)):
        add_finals(state, label, {"loop": loop, "widen": widen})
    ended = skel("bench", "--plan", "p.json", "--state", "s", "--evidence", "kept", "--json")
    document = Document.model_validate(ended.document)
    assert ended.status == 0 and document.verdict == "faster" and document.environment.device == "a GPU"
    assert len(list(Path("kept").glob("*.json"))) == 1
    out = skel("bench", "--plan", "p.json", "--state", "s").out
    assert out.startswith("faster") and "loop *" in out and "original *" in out
    assert "geometric mean over the original, cold: 1.4" in out and "cuda graph" in out
    assert [line for line in out.splitlines() if "slower_here" in line and "widen" in line]


def test_the_state_of_another_plan_is_wrong_use(skel: Skel) -> None:
    plan = plan_of("loop")
    Path("p.json").write_text(plan_of("widen").to_json())
    screened(Path("s"), plan, {"loop": {"a": 2.0}})
    ended = skel("bench", "--plan", "p.json", "--state", "s")
    assert ended.status == 2 and "another plan" in ended.err


def test_reading_what_was_never_measured_makes_no_state(skel: Skel, tmp_path: Path) -> None:
    path, nowhere = tmp_path / "plan.json", tmp_path / "nowhere"
    path.write_text(plan_of("x").to_json())
    ended = skel("bench", "--plan", str(path), "--state", str(nowhere))
    assert ended.status == 2 and "nothing was measured" in ended.err and not nowhere.exists()


def test_a_written_plan_says_how_it_is_worked_off_and_read(skel: Skel, no_gpu: None, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    ended = skel("bench", EXAMPLE, EXAMPLE, "--plan", str(path))
    assert ended.status == 0
    assert f"skel.validation.timing.run {path} --state DIR" in ended.out
    assert f"skel bench --plan {path} --state DIR" in ended.out
