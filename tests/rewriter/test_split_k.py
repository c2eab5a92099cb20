"""split_k: what goes into a share, how the second kernel finishes, and what a sum may not hide."""

from collections.abc import Callable

import pytest

FILE = """import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x, y, z, N, M, BN: tl.constexpr):
    row = tl.program_id(0)
    b_s = tl.load(z + row)
    p = x + row * N + tl.arange(0, BN)
    o = tl.arange(0, BN)
    acc = tl.zeros([BN], dtype=tl.float32)
    for i in range(M):
        acc += tl.load(p, mask=o < N, other=0.0).to(tl.float32)
        p += BN
        o += BN
    tl.store(y + row, tl.sum(acc, 0) * b_s)


def rows(x, z):
    R, N = x.shape
    y = torch.empty(R, device=x.device)
    rows_kernel[(R,)](x, y, z, N, triton.cdiv(N, 64), BN=64)
    return y
"""
ADD = "        acc += tl.load(p, mask=o < N, other=0.0).to(tl.float32)\n"


def changed(*pairs: tuple[str, str]) -> str:
    text = FILE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_a_share_starts_where_the_rounds_before_it_would_have_ended(rewrite: Callable[..., list[str]]) -> None:
    lines = rewrite("split_k", FILE, splits=8)
    assert "share = tl.cdiv(M, SPLITS)" in lines and "first = (tl.program_id(0) % SPLITS) * share" in lines
    assert "p += first.to(tl.int64) * BN" in lines and "o += first * BN" in lines
    assert "for i in range(first, tl.minimum(first + share, M)):" in lines
    assert "row = tl.program_id(0) // SPLITS" in lines and "tl.store(p_partial + tl.arange(0, BN), acc)" in lines


def test_the_kernel_adds_the_shares_and_the_launcher_starts_both(rewrite: Callable[..., list[str]]) -> None:
    lines = rewrite("split_k", FILE, splits=8)
    assert "for split in range(SPLITS):" in lines
    assert "acc += tl.load(p_partial + split * BN + tl.arange(0, BN))" in lines
    assert "partial = torch.empty(R * 8 * 64, dtype=torch.float32, device=z.device)" in lines
    call = "rows_partial_kernel[(R * 8,)](x=x, y=y, z=z, N=N, M=triton.cdiv(N, 64), BN=64, partial=partial, SPLITS=8)"
    assert call in lines
    assert "rows_kernel[(R,)](x, y, z, N, triton.cdiv(N, 64), BN=64, partial=partial, SPLITS=8)" in lines


@pytest.mark.parametrize(
    ("head", "shares", "bounds"),
    [
        ("range(1, M)", "tl.cdiv(M - 1, SPLITS)", "range(1 + first, tl.minimum(1 + first + share, M))"),
        (
            "tl.range(0, N, BN, num_stages=3)",
            "tl.cdiv(tl.cdiv(N, BN), SPLITS)",
            "tl.range(first * BN, tl.minimum(first * BN + share * BN, N), BN, num_stages=3)",
        ),
    ],
)
def test_bounds(rewrite: Callable[..., list[str]], head: str, shares: str, bounds: str) -> None:
    lines = rewrite("split_k", changed(("range(M)", head)))
    assert f"share = {shares}" in lines and f"for i in {bounds}:" in lines


def test_a_tile_of_the_launch_is_written_out_of_the_grid_function(rewrite: Callable[..., list[str]]) -> None:
    lines = rewrite("split_k", changed(("[(R,)]", '[lambda m: (R // m["BN"] * 64, 2)]')))
    assert "partial = torch.empty((R // 64 * 64) * 2 * 4 * 64, dtype=torch.float32, device=z.device)" in lines


@pytest.mark.parametrize(
    "add",
    [
        "        acc = tl.load(p) * 1.0 + acc\n",
        "        acc -= tl.load(p) * 1.0\n",
        "        if o.shape[0] > 1:\n            acc += tl.load(p)\n",
        "        for j in range(2):\n            acc += tl.load(p + j)\n",
    ],
)
def test_other_ways_to_add(rewrite: Callable[..., list[str]], add: str) -> None:
    assert "for split in range(SPLITS):" in rewrite("split_k", changed((ADD, add)))


REFUSALS = {
    "a product": ([(ADD, ADD.replace("+=", "*="))], "loop_not_additive", 13),
    "looks at the sum": ([(ADD, ADD + "        o += (tl.max(acc, 0) > 3).to(tl.int32)\n")], "loop_not_additive", 13),
    "adds what it holds": ([(ADD, ADD.replace("acc += ", "acc += acc * "))], "loop_not_additive", 13),
    "a maximum": ([(ADD, "        acc = tl.maximum(acc, tl.load(p))\n")], "loop_not_additive", 13),
    "a step that varies": ([("p += BN", "p += BN + i")], "loop_not_additive", 13),
    "a step now and then": ([("p += BN", "if i > 2:\n            p += BN")], "loop_not_additive", 13),
    "two steps": ([("        p += BN\n", "        p += BN\n        p += 1\n")], "loop_not_additive", 13),
    "a loaded step": ([("p += BN", "p += tl.load(z + 1).to(tl.int32)")], "loop_not_additive", 13),
    "reads the pointer after": ([("(y + row, ", "(y + row + o, ")], "loop_not_additive", 13),
    "reads the counter after": ([("* b_s", "* b_s * i")], "loop_not_additive", 13),
    "starts from a load": ([("tl.zeros([BN], dtype=tl.float32)", "tl.load(p)")], "state_not_zero", 12),
    "starts from one": ([("tl.zeros([BN], dtype=tl.float32)", "tl.full([BN], 1.0, tl.float32)")], "state_not_zero", 12),
    "in half": ([("[BN], dtype=tl.float32", "[BN], dtype=tl.float16")], "loop_not_additive", 13),
    "an integer sum": ([("[BN], dtype=tl.float32", "[BN], dtype=tl.int32")], "loop_not_additive", 13),
    "writes inside": ([(ADD, ADD + "        tl.store(y + row, 1.0)\n")], "loop_not_additive", 15),
    "writes before": ([("    o = tl", "    tl.store(y + row, 1.0)\n    o = tl")], "loop_not_additive", 11),
    "waits": ([(ADD, ADD + "        tl.debug_barrier()\n")], "loop_not_additive", 15),
    "leaves": ([(ADD, ADD + "        if i > 3:\n            return\n")], "loop_not_additive", 16),
    "breaks": ([(ADD, ADD + "        if i > 3:\n            break\n")], "unknown_construct", 16),
    "steps of an argument": ([("range(M)", "range(0, N, M)")], "loop_not_additive", 13),
    "no loop": ([("    for i in range(M):", "    if M:")], "pattern_not_found", 7),
    "counts programs": ([("row = tl.program_id(0)", "row = tl.program_id(0) % tl.num_programs(0)")], "grid_barrier", 8),
    "a local size": (
        [("    acc = tl.zeros([BN]", "    D: tl.constexpr = BN\n    acc = tl.zeros([2 * D]")],
        "producer_not_saved",
        14,
    ),
    "a name is taken": ([("b_s", "SPLITS")], "name_taken", 7),
    "options through **": ([("BN=64)", "BN=64, **z)")], "unreadable_launch", 23),
    "an argument that allocates": ([("[(R,)](x,", "[(R,)](x.contiguous(),")], "unreadable_launch", 23),
}


@pytest.mark.parametrize(("pairs", "code", "line"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals(refusal: Callable[..., object], pairs: list[tuple[str, str]], code: str, line: int) -> None:
    found = refusal("split_k", changed(*pairs))
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]


def test_names_that_are_taken_are_numbered(rewrite: Callable[..., list[str]]) -> None:
    """A name of the kernel, one of the launcher, which it goes on to use, and one of the module."""
    host = [("    R, N = x.shape", "    partial = x + z\n    R, N = x.shape"), ("return y", "return y, partial")]
    kernel = [("b_s", "share"), ("import torch\n", "import torch\n\nfirst = 1\n")]
    lines = rewrite("split_k", changed(*host, *kernel), splits=8)
    assert "share_2 = tl.cdiv(M, SPLITS)" in lines and "first_2 = (tl.program_id(0) % SPLITS) * share_2" in lines
    assert "partial_2 = torch.empty(R * 8 * 64, dtype=torch.float32, device=z.device)" in lines
    assert any(line.startswith("rows_kernel[(R,)]") and "partial_2=partial_2" in line for line in lines)
    assert not any(line.startswith("partial = ") for line in lines)


@pytest.mark.parametrize("splits", [1, 0, 65, "many"])
def test_a_number_of_shares(refusal: Callable[..., object], splits: object) -> None:
    assert refusal("split_k", FILE, splits=splits).code == "bad_setting"  # type: ignore[attr-defined]
