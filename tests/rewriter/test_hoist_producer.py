"""hoist_producer: what moves into the kernel before, how its launch is written, and what keeps everything in place."""

from collections.abc import Callable

import pytest

from tests.rewriter.conftest import rewritten

FILE = """import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x, w, y, N, D: tl.constexpr, V: tl.constexpr, BV: tl.constexpr):
    i_v = tl.program_id(0)
    i_n = tl.program_id(1)
    o_d = tl.arange(0, D)
    o_v = i_v * BV + tl.arange(0, BV)
    b_x = tl.load(x + i_n * D + o_d).to(tl.float32)
    rstd = tl.math.rsqrt(tl.sum(b_x * b_x, 0) / D)
    b_w = tl.load(w + o_d[:, None] * V + o_v[None, :])
    tl.store(y + i_n * V + o_v, tl.sum((b_x * rstd)[:, None] * b_w, 0))


def rows(x, w):
    N, D = x.shape
    V = w.shape[1]
    y = x.new_empty(N, V)
    rows_kernel[(triton.cdiv(V, 16), N)](x, w, y, N, D=D, V=V, BV=16)
    return y
"""


def changed(*pairs: tuple[str, str]) -> str:
    text = FILE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_a_scalar_is_saved_and_the_row_it_was_made_of_is_loaded_twice(rewrite: Callable[..., list[str]]) -> None:
    lines = rewrite("hoist_producer", FILE)
    assert "tl.store(p_producer, rstd)" in lines and "rstd = tl.load(p_producer)" in lines
    assert "p_producer = producer + tl.program_id(1).to(tl.int64) * 1" in lines
    assert "producer = torch.empty(N * 1, dtype=torch.float32, device=x.device)" in lines
    assert "rows_producer_kernel[(1, N)](x=x, D=D, producer=producer)" in lines


def test_the_scratch_is_as_wide_as_its_inputs(rewrite: Callable[..., list[str]]) -> None:
    lines = rewrite("hoist_producer", changed((".to(tl.float32)\n", "\n")))
    wide = "torch.promote_types(torch.float32, x.dtype)"
    assert f"producer = torch.empty(N * 1, dtype={wide}, device=x.device)" in lines
    text = changed(
        (".to(tl.float32)\n", "\n"),
        ("/ D)", "/ D)\n    b_d = tl.exp(o_d.to(tl.float32) / 9)"),
        ("* rstd", "* rstd * b_d"),
    )
    assert "b_d = tl.load(p_producer + 1 + tl.arange(0, D)).to(tl.float32)" in rewrite("hoist_producer", text)


def test_the_new_kernel_stands_before_and_every_launch_gets_its_own(rewrite: Callable[..., list[str]]) -> None:
    second = "    rows_kernel[(triton.cdiv(V, 16), N)](w, w, y, N, D=D, V=V, BV=16, num_warps=2)\n    return y"
    lines = rewrite("hoist_producer", changed(("    return y", second)))
    assert lines.count("producer = torch.empty(N * 1, dtype=torch.float32, device=x.device)") == 1
    assert "producer = torch.empty(N * 1, dtype=torch.float32, device=w.device)" in lines
    assert "rows_producer_kernel[(1, N)](x=w, D=D, producer=producer, num_warps=2)" in lines


def test_an_exit_that_tiles_share_goes_along(rewrite: Callable[..., list[str]]) -> None:
    text = changed(("    o_d = tl", "    if i_n >= N:\n        return\n    o_d = tl"))
    moved = rewrite("hoist_producer", text)
    assert "N," in moved and "p_producer = producer + tl.program_id(1).to(tl.int64) * 1" in moved


def test_an_exit_that_writes_first_only_leaves_in_the_new_kernel() -> None:
    store = "        b_z = o_v * 0.0\n        tl.store(y + i_n * V + o_v, b_z)\n"
    leave = f"    if tl.load(w + i_n) < 0:\n{store}        return\n"
    text = changed(("    o_d = tl", f"{leave}    o_d = tl"))
    after = rewritten("hoist_producer", text)
    assert after.count("    if tl.load(w + i_n) < 0:\n        return\n") == 1 and after.count(leave) == 1
    assert "rows_producer_kernel[(1, N)](x=x, w=w, D=D, producer=producer)" in after


def test_defaults_of_parameters_keep_the_signature_legal(rewrite: Callable[..., list[str]]) -> None:
    text = changed(("BV: tl.constexpr):", "BV: tl.constexpr = 16):"))
    assert any("BV: tl.constexpr = 16, producer = None" in line for line in rewrite("hoist_producer", text))


REFUSALS = {
    "flattened": (
        [
            ("i_v = tl.program_id(0)\n", "i_v = tl.program_id(0) % 4\n"),
            ("i_n = tl.program_id(1)\n", "i_n = tl.program_id(0) // 4\n"),
        ],
        "axis_flattened",
        13,
    ),
    "memory it writes": ([("(x, w, y, N, D=D", "(y, w, y, N, D=D")], "nothing_to_hoist", 7),
    "a copy is passed": ([("(x, w, y, N, D=D", "(x.contiguous(), w, y, N, D=D")], "unreadable_launch", 22),
    "an exit of a tile": (
        [("    b_x =", "    if i_v * BV >= N:\n        return\n    b_x =")],
        "exit_between_tiles",
        13,
    ),
    "an exit by what the kernel writes": (
        [("    o_d = tl", "    if tl.load(y + i_n) < 0:\n        tl.store(y, 1.0)\n        return\n    o_d = tl")],
        "exit_between_tiles",
        12,
    ),
    "an exit on one line": (
        [("    o_d = tl", "    if i_n > 9: tl.store(y, 1.0); return\n    o_d = tl")],
        "unknown_construct",
        10,
    ),
    "a barrier": ([("    b_x =", "    tl.extra.cuda.gdc_wait()\n    b_x =")], "grid_barrier", 12),
    "counts programs": ([("/ D)", "/ tl.num_programs(0))")], "grid_barrier", 7),
    "of no known type": (
        [(".to(tl.float32)\n", "\n"), ("tl.math.rsqrt(tl.sum(b_x * b_x, 0) / D)", "tl.sum(b_x * b_x, 0)")],
        "producer_not_saved",
        13,
    ),
    "wide by what may be left out": (
        [
            (".to(tl.float32)\n", "\n    if D > 8:\n        b_x *= tl.load(z + o_d)\n"),
            ("def rows_kernel(x,", "def rows_kernel(x, z,"),
            ("N)](x, w", "N)](x, None, w"),
        ],
        "producer_not_saved",
        9,
    ),
    "fp64 by itself": (
        [(".to(tl.float32)\n", "\n"), ("    y = x.new", "    assert x.dtype != torch.float64\n    y = x.new")],
        "producer_not_saved",
        13,
    ),
    "only in a branch": (
        [("    rstd = tl", "    if N > 1:\n        rstd = tl"), ("(b_x * rstd)", "(b_x * rstd if N > 1 else b_x)")],
        "producer_not_saved",
        14,
    ),
    "no work of blocks": ([("tl.math.rsqrt(tl.sum(b_x * b_x, 0) / D)", "1.0")], "no_redundant_work", 7),
    "a tuned size": (
        [("@triton.jit", "@triton.autotune([triton.Config({'D': 16})], key=[])\n@triton.jit"), (" D=D,", "")],
        "tile_belongs_to_autotuner",
        8,
    ),
    "twice": ([("BV: tl.constexpr):", "BV: tl.constexpr, producer):")], "already_applied", 7),
    "the name is taken": ([("    y = x.new", "    producer = 0\n    y = x.new")], "name_taken", 7),
    "without torch": ([("import torch\n", "")], "unknown_construct", 21),
    "no launch": ([("rows_kernel[(", "other_kernel[(")], "no_launch_site", 7),
    "with a splat": ([("D=D, V=V, BV=16", "V=V, BV=16, **w.sizes")], "unreadable_launch", 22),
}


@pytest.mark.parametrize(("pairs", "code", "line"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals(refusal: Callable[..., object], pairs: list[tuple[str, str]], code: str, line: int) -> None:
    found = refusal("hoist_producer", changed(*pairs))
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]


@pytest.mark.parametrize("indent", ["  ", "    ", "\t"], ids=["two", "four", "tab"])
def test_the_stores_stand_where_the_body_does(indent: str) -> None:
    """A body whose last moved statement is a branch: what is saved belongs after it, whatever the file indents by."""
    branch = "\n    if rstd > 2.0:\n        rstd = rstd + 1.0\n    else:\n        rstd = rstd - 1.0\n    b_w"
    text = changed(("\n    b_w", branch))
    head, kernel = text.split("@triton.jit\n")
    made = rewritten("hoist_producer", head + "@triton.jit\n" + kernel.replace("    ", indent))
    moved = made.split("def rows_kernel")[0].splitlines()
    assert f"{indent}tl.store(p_producer, rstd)" in moved
    assert moved.index(f"{indent}{indent}rstd = rstd - 1.0") < moved.index(f"{indent}tl.store(p_producer, rstd)")
