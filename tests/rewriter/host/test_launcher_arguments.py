"""Tuning arguments of a launcher: which are decisions, what becomes of their defaults, which are never touched."""

from __future__ import annotations

import pytest

from skel.rewriter.conditions.launcher_arguments import launcher_arguments
from skel.rewriter.engine import Candidates, candidates
from skel.rewriter.kernel.definition import choose_kernel, load_module
from skel.rewriter.kernel.edits import apply_edits
from skel.rewriter.primitives.set_launcher_default import set_launcher_default
from skel.rewriter.reasons import Refuse
from skel.rewriter.result import Refused
from skel.store.load import load_skeleton
from skel.store.packaged import packaged_folder

FUSE_VTILES = load_skeleton(packaged_folder() / "fuse_vtiles" / "skeleton.yaml")
TEXT = '''import triton
import triton.language as tl


@triton.jit
def kernel(q, k, s, o, K, V, window, BV: tl.constexpr, BK: tl.constexpr, NK: tl.constexpr, PAGE: tl.constexpr):
    i_v, i_n = tl.program_id(0), tl.program_id(1)
    o_v = i_v * BV + tl.arange(0, BV)
    acc = tl.zeros([BV], dtype=tl.float32)
    for kk in range(NK):
        o_k = kk * BK + tl.arange(0, BK)
        b_q = tl.load(q + i_n * K + o_k, mask=o_k < K, other=0.0)
        b_q = b_q / tl.sqrt(tl.sum(b_q * b_q) + 1.0)
        p = s + (i_n * V + o_v[:, None]) * K + o_k[None, :]
        b_s = tl.load(p, mask=(o_v < V)[:, None] & (o_k < K)[None, :], other=0.0)
        acc += tl.sum(b_s * b_q[None, :], axis=1)
    tl.store(o + i_n * V + o_v, acc, mask=(o_v < V) & (o_v < PAGE))


def launch(q, k, s, o, *, block_v=None, nk=2, page=64, scratch=4, num_warps=1, num_stages: int = 3):
    N, V, K = s.shape
    size = triton.next_power_of_2(K)
    if size % nk != 0:
        raise ValueError(f"nk={nk}")
    BK = size // nk
    BV = block_v if block_v is not None else min(triton.next_power_of_2(V), 32)
    buffer = q.new_empty(scratch)
    grid = (triton.cdiv(V, BV), N)
    kernel[grid](q, k, s, o, K, V, buffer, BV=BV, BK=BK, NK=nk, PAGE=page, num_warps=num_warps, num_stages=num_stages)
'''


def found(text: str) -> dict[str, tuple[str, tuple[str, ...], int | None]]:
    module = load_module(text, "m.py")
    return {a.name: (a.kind, a.reaches, a.value) for a in launcher_arguments(module, choose_kernel(module, "kernel"))}


def test_tiles_splits_and_options_are_decisions_and_nothing_else_is() -> None:
    assert found(TEXT) == {
        "block_v": ("tile", ("BV",), None),
        "nk": ("split", ("BK", "NK"), 2),
        "num_warps": ("option", ("num_warps",), 1),
        "num_stages": ("option", ("num_stages",), 3),
    }


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("buffer = q.new_empty(scratch)", "buffer = q.new_empty(nk)", "nk"),
        ("buffer = q.new_empty(scratch)", "buffer = q.new_empty(BK)", "nk"),
        ("buffer = q.new_empty(scratch)", "buffer = helper(q, BV)", "block_v"),
        ("NK=nk", "NK=4", "nk"),
        ("    for kk in range(NK):", "    for kk in range(NK + (K > NK)):", "nk"),
        ("mask=(o_v < V) & (o_v < PAGE)", "mask=(o_v < V) & (o_v < BV)", "block_v"),
        ("num_warps=num_warps", "num_warps=max(num_warps, nk)", "num_warps"),
        ("block_v=None", "block_v=None, *rest", "block_v"),
    ],
)
def test_an_argument_that_is_used_otherwise_is_none(old: str, new: str, lost: str) -> None:
    assert old in TEXT
    assert lost not in found(TEXT.replace(old, new).replace("*, block_v=None, *rest", "block_v=q.width"))


def test_only_the_default_changes() -> None:
    module = load_module(TEXT, "m.py")
    edits = set_launcher_default(module, choose_kernel(module, "kernel"), name="nk", value=4)
    assert apply_edits(TEXT, edits) == TEXT.replace("nk=2", "nk=4")
    assert set_launcher_default(module, choose_kernel(module, "kernel"), name="nk", value=2) == []


@pytest.mark.parametrize(
    ("name", "value", "code"), [("page", 32, "no_such_option"), ("nk", 0, "bad_setting"), ("nk", True, "bad_setting")]
)
def test_refusals(name: str, value: int, code: str) -> None:
    module = load_module(TEXT, "m.py")
    with pytest.raises(Refuse) as caught:
        set_launcher_default(module, choose_kernel(module, "kernel"), name=name, value=value)
    assert caught.value.refusal.code == code


def test_a_tile_that_is_part_of_the_result_keeps_its_default() -> None:
    text = TEXT.replace("tl.store(o + i_n * V + o_v, acc,", "tl.store(o + i_n * V + o_v, acc / tl.sum(acc),")
    module = load_module(text, "m.py")
    with pytest.raises(Refuse) as caught:
        set_launcher_default(module, choose_kernel(module, "kernel"), name="block_v", value=16)
    assert caught.value.refusal.code in ("reduction_over_tile_axis", "nonlinear_partial")


def test_pinned_they_stand_beside_the_decisions_of_a_skeleton() -> None:
    made = candidates(FUSE_VTILES, TEXT, "m.py", settings={"block_v": 16, "nk": 1, "form": "widen", "num_warps": 2})
    assert isinstance(made, Candidates)
    (only,) = made.items
    expected = TEXT.replace("block_v=None", "block_v=16").replace("nk=2", "nk=1")
    assert only.text == expected.replace("num_warps=1,", "num_warps=2,")
    assert only.settings == {"form": "widen", "tile": "kept", "tiles": "kept", "num_warps": 2, "block_v": 16, "nk": 1}


def test_wide_tries_them_and_a_narrow_search_does_not() -> None:
    narrow = candidates(FUSE_VTILES, TEXT, "m.py", settings={"form": "widen", "num_warps": "kept"})
    wide = candidates(FUSE_VTILES, TEXT, "m.py", settings={"form": "widen", "num_warps": "kept"}, wide=True)
    assert isinstance(narrow, Candidates)
    assert isinstance(wide, Candidates)
    assert {c.settings.get("nk", "kept") for c in narrow.items} == {"kept"}
    tried = {(c.settings["block_v"], c.settings["nk"]) for c in wide.items}
    assert {(16, 1), (64, 4), ("kept", 1)} <= tried
    assert (32, "kept") not in tried  # what the launcher does anyway


@pytest.mark.parametrize(
    ("settings", "code"), [({"page": 32}, "no_such_option"), ({"block_v": 16, "tile": 64}, "bad_setting")]
)
def test_settings_that_cannot_be(settings: dict[str, int], code: str) -> None:
    made = candidates(FUSE_VTILES, TEXT, "m.py", settings=settings)
    assert isinstance(made, Refused)
    assert made.refusals[0].code == code
    if code == "no_such_option":
        assert "block_v" in made.refusals[0].message


def test_an_option_that_a_caller_in_the_file_sets_is_changed_at_the_launch() -> None:
    text = f"{TEXT}\n\ndef other(q, k, s, o):\n    launch(q, k, s, o, num_warps=8)\n"
    made = candidates(FUSE_VTILES, text, "m.py", settings={"form": "widen", "tile": "whole", "num_warps": 2})
    assert isinstance(made, Candidates)
    assert "num_warps=2, num_stages=num_stages)" in made.items[0].text
