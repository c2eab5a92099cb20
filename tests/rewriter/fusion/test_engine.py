"""The engine's door: candidates or reasons, never an exception."""

from __future__ import annotations

import ast

import pytest

from skel.rewriter.engine import Candidates, candidates
from skel.rewriter.result import Refused
from tests.random_kernels.rewriting import skeleton

from .conftest import source_of

STORE = "tl.store(y + i_b * V + o_v, b_v * c, mask=o_v < V)\n"


def test_candidates_are_named_ranked_and_different() -> None:
    found = candidates(skeleton("fuse_vtiles"), source_of(STORE), "case.py", known={"V": 128}, wide=True)
    assert isinstance(found, Candidates) and found.kernel == "kernel"
    names = [item.name for item in found.items]
    assert len(set(names)) == len(names) and len({item.text for item in found.items}) == len(names)
    assert [item.rank for item in found.items] == sorted(item.rank for item in found.items)
    assert {item.settings["form"] for item in found.items} == {"loop", "widen"}
    for item in found.items:
        ast.parse(item.text)


def test_the_same_inputs_give_the_same_candidates() -> None:
    first, second = (candidates(skeleton("fuse_vtiles"), source_of(STORE), "case.py") for _ in range(2))
    assert isinstance(first, Candidates) and first == second


def test_a_pinned_setting_is_kept() -> None:
    found = candidates(skeleton("fuse_vtiles"), source_of(STORE), "case.py", settings={"form": "widen", "tile": 64})
    assert isinstance(found, Candidates)
    assert {(item.settings["form"], item.settings["tile"]) for item in found.items} == {("widen", 64)}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("def f(:\n", "unparsable"),
        ("x = 1\n", "no_kernel"),
        (source_of(STORE, launcher="\n"), "no_launch_site"),
        (source_of("tl.store(y + i_b, b_v)\n"), "unguarded_invariant_store"),
        (source_of(STORE.replace("b_v * c", "b_v / BV")), "tile_used_otherwise"),
    ],
)
def test_reasons(text: str, code: str) -> None:
    found = candidates(skeleton("fuse_vtiles"), text, "case.py")
    assert isinstance(found, Refused)
    assert found.refusals[0].code == code, found.refusals


@pytest.mark.parametrize("settings", [{"no_such": 1}, {"form": "sideways"}])
def test_settings_that_do_not_exist(settings: dict[str, str | int]) -> None:
    found = candidates(skeleton("fuse_vtiles"), source_of(STORE), "case.py", settings=settings)
    assert isinstance(found, Refused)
    assert found.refusals[0].code in ("no_such_option", "bad_setting")


def test_a_fault_of_ours_is_reported_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    from skel.rewriter.engine import apply
    from skel.rewriter.result import Bug

    def broken(*_arguments: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(apply, "choose_axis", broken)
    found = candidates(skeleton("fuse_vtiles"), source_of(STORE), "case.py")
    assert isinstance(found, Bug) and "on purpose" in found.traceback


def test_forms_that_do_not_fit_are_told() -> None:
    body = "h = tl.zeros([BV], dtype=tl.float32)\nfor t in range(T):\n    d = tl.sum(tl.exp(b_k) * t)\n"
    body += "    h = h * d + b_v\n"
    text = source_of(body + STORE.replace("b_v * c", "h")).replace("c = tl.sum(b_k * b_k)", "c = 1.0")
    found = candidates(skeleton("fuse_vtiles"), text, "case.py")
    assert isinstance(found, Candidates)
    assert {item.settings["form"] for item in found.items} == {"widen"}
    assert any("loop_carried_across_tiles" in f.message for f in found.findings)
