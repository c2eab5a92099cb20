"""Names and values that were given and are none: status 2, the document where there is one, and quickly."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from skel import __version__
from skel.cli import output
from skel.counted import counted
from tests.cli.running import Skel

EXAMPLE = str(Path(__file__).resolve().parents[2] / "examples" / "kda_decode.py")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([f"{EXAMPLE}::nope"], "unknown_kernel"),
        ([EXAMPLE, "--set", "bogus=3"], "no_such_option"),
        ([EXAMPLE, "--set", "form=sideways"], "bad_setting"),
        ([EXAMPLE, "--set", "tile=-16"], "bad_setting"),
        ([EXAMPLE, "--set", "tile=48"], "bad_setting"),
        ([EXAMPLE, "--set", "tile=true"], "bad_setting"),
        ([EXAMPLE, "--set", "tile=wide"], "bad_setting"),
        ([EXAMPLE, "--set", "tiles=0"], "bad_setting"),
        ([EXAMPLE, "--set", "tiles=1.5"], "bad_setting"),
        ([EXAMPLE, "--set", "num_warps=3"], "bad_setting"),
        ([EXAMPLE, "--set", "num_warps=64"], "bad_setting"),
    ],
)
def test_what_cannot_be_applied_as_it_was_asked_for_is_wrong_use(skel: Skel, words: list[str], code: str) -> None:
    ended = skel("apply", "fuse_vtiles", *words, "--no-bench", "--json")
    assert ended.status == 2
    (refusal,) = ended.document["refusals"]
    assert (ended.document["verdict"], refusal["code"]) == ("not_applicable", code)
    assert ended.document["compile"] is None and list(Path.cwd().iterdir()) == []


def test_a_refusal_of_the_kernel_is_no_wrong_use(skel: Skel) -> None:
    softmax = str(Path(EXAMPLE).with_name("masked_softmax.py"))
    ended = skel("apply", "fuse_vtiles", softmax, "--set", "num_warps=2", "--no-bench", "--json")
    assert ended.status == 1 and ended.document["refusals"]


def test_a_folder_that_does_not_exist_is_not_made_for_a_database(skel: Skel) -> None:
    ended = skel("list", "--db", "tpyo/deep/skel.db")
    assert ended.status == 2 and "does not exist" in ended.err and "tpyo/deep" in ended.err
    assert list(Path.cwd().iterdir()) == []


def test_a_model_that_is_not_here_is_said_at_once(skel: Skel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)  # importing it takes seconds, and would raise here
    ended = skel("search", "slow norm", "--model", "no-such-model", "--json")
    assert ended.status == 2 and "not on this machine" in ended.out


def test_the_version(skel: Skel) -> None:
    ended = skel("--version")
    assert (ended.status, ended.out) == (0, f"skel {__version__}\n")


def test_numbers_of_things() -> None:
    assert [counted(n, "kernel") for n in (0, 1, 2)] == ["0 kernels", "1 kernel", "2 kernels"]
    assert counted(1, "axis", "axes") == "1 axis" and counted(2, "axis", "axes") == "2 axes"


def test_steps_are_shown_once_the_work_is_slow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with output.working("applying") as tell:
        tell("candidates", {"candidates": 8})
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(output, "SLOW_SECONDS", 0.0)
    with output.working("applying") as tell:
        tell("compiled", {"candidate": "wide", "within_limits": True, "why": None})
    assert "  compiled: candidate wide, within limits True\n" in capsys.readouterr().err
