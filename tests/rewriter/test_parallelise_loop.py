"""parallelise_loop: where the round's number comes from, and what ties rounds to each other."""

from collections.abc import Callable

import pytest

FILE = """import triton
import triton.language as tl


@triton.jit
def rows_kernel(x, y, N, D, BN: tl.constexpr):
    row = tl.program_id(0)
    b_s = tl.load(x + row)
    for i in range(tl.cdiv(N, BN)):
        o = i * BN + tl.arange(0, BN)
        tl.store(y + row * N + o, tl.load(x + row * N + o, mask=o < N) * b_s, mask=o < N)


def rows(x, y):
    M, N = x.shape
    rows_kernel[(M,)](x, y, N, 2, BN=64)
"""


def changed(*pairs: tuple[str, str]) -> str:
    text = FILE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_rounds_join_the_first_axis(rewrite: Callable[..., list[str]]) -> None:
    assert rewrite("parallelise_loop", FILE) == [
        "steps = tl.cdiv(N, BN)",
        "row = tl.program_id(0) // steps",
        "i = tl.program_id(0) % steps",
        "if i < tl.cdiv(N, BN):",
        "rows_kernel[(M * triton.cdiv(N, 64),)](x, y, N, 2, BN=64)",
    ]


@pytest.mark.parametrize(
    ("head", "steps", "grid"),
    [
        ("for i in range(D):", "steps = D", "M * 2"),
        ("for i in tl.range(0, tl.cdiv(N, BN), num_stages=2):", "steps = tl.cdiv(N, BN)", "M * triton.cdiv(N, 64)"),
    ],
)
def test_bounds(rewrite: Callable[..., list[str]], head: str, steps: str, grid: str) -> None:
    lines = rewrite("parallelise_loop", changed(("for i in range(tl.cdiv(N, BN)):", head)))
    assert steps in lines and f"rows_kernel[({grid},)](x, y, N, 2, BN=64)" in lines


def test_a_tuned_size_comes_from_the_grid_function(rewrite: Callable[..., list[str]]) -> None:
    text = changed(
        ("@triton.jit", "@triton.autotune([triton.Config({'BN': 16})], key=[])\n@triton.jit"),
        ("[(M,)]", "[lambda m: (M,)]"),
        (", BN=64", ""),
    )
    assert 'rows_kernel[lambda m: (M * triton.cdiv(N, m["BN"]),)](x, y, N, 2)' in rewrite("parallelise_loop", text)


STORE = "        tl.store(y + row * N + o, tl.load(x + row * N + o, mask=o < N) * b_s, mask=o < N)\n"
REFUSALS = {
    "a sum": ([("        o = i", "        b_s += i\n        o = i")], "loop_not_independent", 9),
    "read after": ([(STORE, STORE + "    tl.store(y, o)\n")], "loop_not_independent", 9),
    "a store outside": ([("    b_s =", "    tl.store(y, 1.0)\n    b_s =")], "loop_not_independent", 10),
    "reads what it writes": ([("rows_kernel[(M,)](x, y", "rows_kernel[(M,)](x, x")], "loop_not_independent", 9),
    "one place": ([("y + row * N + o, tl.l", "y + row * N + tl.arange(0, BN), tl.l")], "loop_not_independent", 9),
    "a loaded place": (
        [("        o = i", "        p = tl.load(x + i)\n        o = i"), ("y + row * N + o, tl.l", "y + p * N, tl.l")],
        "loop_not_independent",
        9,
    ),
    "tiles that overlap": ([("o = i * BN", "o = i * 32")], "loop_not_independent", 9),
    "a stride that may be zero": ([("o = i * BN", "o = i * D")], "loop_not_independent", 9),
    "two stores that meet": (
        [(STORE, STORE + "        tl.store(y + row * N + o + 1, b_s)\n")],
        "loop_not_independent",
        9,
    ),
    "a place that wraps": ([("y + row * N + o, tl.l", "y + row * N + o % N, tl.l")], "loop_not_independent", 9),
    "a number rounded otherwise": ([("tl.cdiv(N, BN)", "(N - 100) // BN + 6")], "loop_bound_unknown", 9),
    "steps of its own": ([("tl.cdiv(N, BN)", "0, N, D")], "loop_not_independent", 9),
    "an atomic": ([("tl.store(y", "tl.atomic_add(y")], "loop_not_independent", 9),
    "leaves the kernel": (
        [("        o = i", "        if i > 3:\n            return\n        o = i")],
        "loop_not_independent",
        11,
    ),
    "breaks": ([("        o = i", "        if i > 3:\n            break\n        o = i")], "loop_not_independent", 11),
    "another loop": (
        [("    b_s = tl.load(x + row)", "    b_s = 0.0\n    for j in range(N):\n        b_s += j")],
        "loop_not_independent",
        11,
    ),
    "a while": ([("for i in range(tl.cdiv(N, BN)):", "while row < N:")], "loop_bound_unknown", 9),
    "from one on": ([("range(tl.cdiv(N, BN))", "range(1, N)")], "loop_bound_unknown", 9),
    "a loaded bound": ([("tl.cdiv(N, BN)", "b_s")], "loop_bound_unknown", 9),
    "a bound set again": ([("    b_s =", "    N += 2\n    b_s =")], "loop_bound_unknown", 10),
    "a size set after the grid": (
        [("    rows_kernel[(M,)]", "    grid = (M,)\n    N = 2\n    rows_kernel[grid]")],
        "loop_bound_unknown",
        9,
    ),
    "numbers alone": ([("tl.cdiv(N, BN)", "4")], "pattern_not_found", 9),
    "no loop": ([("    for i in range(tl.cdiv(N, BN)):", "    if D:"), ("= i *", "= D *")], "pattern_not_found", 6),
    "counts programs": ([("row = tl.program_id(0)", "row = tl.program_id(0) * tl.num_programs(0)")], "grid_barrier", 7),
    "the name is taken": ([("    b_s =", "    steps = 1\n    b_s =")], "name_taken", 6),
}


@pytest.mark.parametrize(("pairs", "code", "line"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals(refusal: Callable[..., object], pairs: list[tuple[str, str]], code: str, line: int) -> None:
    found = refusal("parallelise_loop", changed(*pairs))
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]
