"""fuse_axis_loop: golden files, what moves before the loop, where the loop ends, and its refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skel.rewriter.kernel.definition import load_module
from skel.rewriter.primitives.fuse_axis_loop import fuse_axis_loop
from skel.rewriter.reasons import Refuse

from .conftest import source_of

TRAPS = Path(__file__).parents[2] / "traps"
STORE = "tl.store(y + i_b * V + o_v, b_v * c, mask=o_v < V)\n"
FLAT = """
pid = tl.program_id(0)
n = tl.cdiv(V, BV)
i_v = pid % n
i_b = pid // n
o_k = tl.arange(0, BK)
c = tl.sum(tl.load(k + i_b * K + o_k, mask=o_k < K, other=0.0))
o_v = i_v * BV + tl.arange(0, BV)
b_v = tl.load(v + i_b * V + o_v, mask=o_v < V, other=0.0)
"""


def split(text: str) -> tuple[str, str]:
    """The kernel's lines before the loop over tiles, and those in it."""
    kernel = text.split("def kernel(", 1)[1].split("\ndef ", 1)[0]
    head, loop = kernel.split("# One program walks", 1)
    return head, loop


@pytest.mark.parametrize(
    ("name", "tiles"),
    [("u07_slot_summed", 2), ("u30_helper_stores", "all"), ("u33_text", 2), ("u40_wide_axis", 2)],
)
def test_golden(name: str, tiles: int | str, assert_rewrite: Callable[..., str]) -> None:
    assert_rewrite("fuse_axis_loop", TRAPS / f"{name}.py", f"{name}.py", tiles_per_program=tiles)


def test_shared_work_moves_before_the_loop(assert_rewrite: Callable[..., str]) -> None:
    head, loop = split(assert_rewrite("fuse_axis_loop", source_of(STORE), tiles_per_program=2))
    assert "c = tl.sum(b_k * b_k)" in head and "i_v_group, i_b = " in head
    assert "b_v = tl.load(" in loop and "tl.store(y" in loop and "c = " not in loop


def test_masked_tiles_may_run_past_the_end(assert_rewrite: Callable[..., str]) -> None:
    after = assert_rewrite("fuse_axis_loop", source_of(STORE), tiles_per_program=2)
    assert "in range(i_v_group * TILES, (i_v_group + 1) * TILES):" in after


@pytest.mark.parametrize(
    "more",
    [
        "tl.atomic_add(s + i_b, tl.sum(b_v, 0))\n",
        "tl.store(s + i_v * R + i_b, tl.sum(b_v, 0))\n",
        "b_v += tl.load(s + i_v)\n",
    ],
)
def test_tiles_that_do_more_stop_at_the_end(more: str, assert_rewrite: Callable[..., str]) -> None:
    text = source_of(more + STORE)
    after = assert_rewrite("fuse_axis_loop", text, tiles_per_program=2, merge="no")
    assert "min((i_v_group + 1) * TILES, tl.cdiv(V, BV))" in after


def test_the_index_stays_a_tensor_where_it_is_cast(assert_rewrite: Callable[..., str]) -> None:
    text = source_of(STORE).replace("o_v = i_v * BV", "o_v = i_v.to(tl.int64) * BV")
    _, loop = split(assert_rewrite("fuse_axis_loop", text, tiles_per_program=2))
    assert "for i_v_step in range(TILES):" in loop and "i_v = i_v_group * TILES + i_v_step" in loop


def test_parts_of_a_flattened_id_are_divided_together(assert_rewrite: Callable[..., str]) -> None:
    text = source_of(STORE, prologue=FLAT).replace("[(triton.cdiv(V, BV), R)]", "[(triton.cdiv(V, BV) * R,)]")
    head, _ = split(assert_rewrite("fuse_axis_loop", text, tiles_per_program=2))
    assert "i_v_group = pid % tl.cdiv(n, TILES)" in head and "i_b = pid // tl.cdiv(n, TILES)" in head


def test_what_the_loop_changes_starts_anew_in_every_tile(assert_rewrite: Callable[..., str]) -> None:
    body = "x = c * 2.0\nx = tl.exp(x)\nacc = tl.zeros([BV], dtype=tl.float32)\nacc += b_v * x\n" + STORE.replace(
        "b_v * c", "acc"
    )
    head, loop = split(assert_rewrite("fuse_axis_loop", source_of(body), tiles_per_program=2))
    assert "x = tl.exp(x)" in head and "acc = tl.zeros" in loop and "acc += " in loop


def test_a_name_that_a_tile_overwrites_is_read_again(assert_rewrite: Callable[..., str]) -> None:
    body = "x = tl.exp(c)\nb_v = b_v * x\nx = tl.sqrt(c)\nb_v = b_v + x\n" + STORE
    _, loop = split(assert_rewrite("fuse_axis_loop", source_of(body), tiles_per_program=2))
    assert loop.index("x = tl.exp(c)") < loop.index("b_v = b_v * x") < loop.index("x = tl.sqrt(c)")


def test_barriers_stay_between_the_accesses_they_separate(assert_rewrite: Callable[..., str]) -> None:
    body = STORE + "tl.debug_barrier()\n" + STORE.replace("b_v * c", "b_v")
    _, loop = split(assert_rewrite("fuse_axis_loop", source_of(body), tiles_per_program=2))
    first, second = loop.split("tl.debug_barrier()")
    assert "tl.store" in first and "tl.store" in second


@pytest.mark.parametrize("line", ["tl.assume(i_v >= 0)", 'tl.device_print("tile", i_v)', "x = i_v * 0 + c"])
def test_what_names_the_index_stays_in_the_loop(line: str, assert_rewrite: Callable[..., str]) -> None:
    _, loop = split(assert_rewrite("fuse_axis_loop", source_of(f"{line}\n{STORE}"), tiles_per_program=2))
    assert line in loop


def test_stores_stay_in_their_order(assert_rewrite: Callable[..., str]) -> None:
    body = STORE + "tl.store(s + i_b, c)\n"
    _, loop = split(assert_rewrite("fuse_axis_loop", source_of(body), tiles_per_program=2))
    assert loop.index("tl.store(y") < loop.index("tl.store(s")


REFUSED = {
    "time_loop": (
        "h = tl.zeros([BV], dtype=tl.float32)\nfor t in range(T):\n"
        "    d = tl.sum(tl.exp(b_k) * t)\n    h = h * d + b_v\n" + STORE.replace("b_v * c", "h"),
        "loop_carried_across_tiles",
        "for t in range",
    ),
    "reread": (
        "x = tl.load(s + i_b)\nif i_v == 0:\n    tl.store(s + i_b, x + c)\n" + STORE,
        "inplace_not_separated",
        "s +",
    ),
    "exit": ("if i_v > 2:\n    return\n" + STORE, "tile_dependent_exit", "i_v > 2"),
    "last_tile_wins": ("tl.store(s + i_b, tl.max(b_v, 0))\n" + STORE, "unguarded_invariant_store", "tl.max"),
    "two_on_a_line": ("x = c; b_v = b_v * x\n" + STORE, "unknown_construct", "x = c;"),
    "carried_pointer": (
        "y += i_v * BV\ntl.store(y + i_b * V + tl.arange(0, BV), b_v * c, mask=o_v < V)\n",
        "carried_across_tiles",
        "def kernel",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusal(name: str, assert_rewrite: Callable[..., str]) -> None:
    body, code, line = REFUSED[name]
    prologue_last = "b_v = tl.load(v + i_b * V + o_v, mask=o_v < V, other=0.0)\n"
    text = source_of(body)
    assert prologue_last.strip() in text
    if name == "time_loop":
        text = text.replace("c = tl.sum(b_k * b_k)", "c = 1.0")
    assert_rewrite("fuse_axis_loop", text, refusal=(code, line), tiles_per_program=2, merge="no")


def test_a_helper_that_asks_for_its_program_would_get_the_group() -> None:
    helper = "@triton.jit\ndef which():\n    return tl.program_id(0)\n\n\n"
    text = source_of("tl.store(y + i_b * V + o_v, b_v * c + which(), mask=o_v < V)\n", helpers=helper)
    module = load_module(text, "case.py")
    with pytest.raises(Refuse) as refused:
        fuse_axis_loop(module, module.kernels_named("kernel")[0], tiles_per_program=2, merge="no")
    assert refused.value.refusal.code == "unknown_construct"
