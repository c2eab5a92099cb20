"""alignment_hints: what a tile that wraps must be for its offsets to stay in one run."""

from collections.abc import Callable

import pytest

FILE = """import triton
import triton.language as tl


@triton.jit
def wrap_kernel(x, y, p, N, G, BN: tl.constexpr, D: tl.constexpr):
    pid = tl.program_id(0)
    i_n = min(pid // G, 7) + pid % G
    o = (i_n * BN + tl.arange(0, BN)) % N
    tl.store(y + pid * BN + tl.arange(0, BN), tl.load(x + o))


def wrap(x, y, p, G):
    N, _ = x.shape
    wrap_kernel[(4,)](x, y, p, N, G, BN=16, D=32)
"""
HINT = "o = tl.max_contiguous(tl.multiple_of(o, BN), BN)"


def changed(*pairs: tuple[str, str]) -> str:
    text = FILE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_a_size_known_at_run_time_is_tested_at_the_launch(rewrite: Callable[..., list[str]]) -> None:
    assert rewrite("alignment_hints", FILE) == [
        "def wrap_kernel(x, y, p, N, G, BN: tl.constexpr, D: tl.constexpr, EVEN_N: tl.constexpr):",
        "if EVEN_N:",
        HINT,
        "wrap_kernel[(4,)](x, y, p, N, G, BN=16, D=32, EVEN_N=N % 16 == 0)",
    ]


def test_a_constexpr_is_tested_in_the_kernel(rewrite: Callable[..., list[str]]) -> None:
    assert rewrite("alignment_hints", changed((") % N", ") % D"))) == ["if D % BN == 0:", HINT]


@pytest.mark.parametrize(
    "tile",
    [
        "i_n = tl.program_id(0).to(tl.int64)",
        "i_n = tl.cdiv(G, 3) * 2 + tl.program_id(1)",
        "i_n, j = tl.swizzle2d(pid, tl.program_id(1), tl.num_programs(0), tl.num_programs(1), G)",
    ],
)
def test_tiles_counted_from_program_ids(rewrite: Callable[..., list[str]], tile: str) -> None:
    assert HINT in rewrite("alignment_hints", changed(("i_n = min(pid // G, 7) + pid % G", tile)))


REFUSALS = {
    "a loaded tile": ([("+ pid % G", "+ tl.load(p)")], "alignment_not_proved", 9),
    "may be negative": ([("+ pid % G", "- pid % G")], "alignment_not_proved", 9),
    "counted in a loop": (
        [("    o =", "    for j in range(3):\n        i_n += j\n    o =")],
        "alignment_not_proved",
        11,
    ),
    "a shift": ([("i_n * BN +", "i_n * BN + 1 +")], "alignment_not_proved", 9),
    "another step": ([("(i_n * BN", "(i_n * D")], "alignment_not_proved", 9),
    "a step without a tile": ([("(i_n * BN", "(i_n")], "alignment_not_proved", 9),
    "every second lane": ([("tl.arange(0, BN)) %", "2 * tl.arange(0, BN)) %")], "pattern_not_found", 6),
    "from one on": ([("tl.arange(0, BN)) %", "tl.arange(1, BN)) %")], "pattern_not_found", 6),
    "its own size": ([(") % N", ") % BN")], "alignment_not_proved", 9),
    "a size set again": ([("    o =", "    N = N - 1\n    o =")], "alignment_not_proved", 10),
    "set again": ([("    tl.store", "    o = o + 1\n    tl.store")], "pattern_not_found", 6),
    "no wrap": ([(") % N", ")")], "pattern_not_found", 6),
    "hinted": ([("    tl.store", "    o = tl.multiple_of(o, 4)\n    tl.store")], "already_applied", 10),
    "an argument that is computed": ([("p, N, G, BN=", "p, read(N), G, BN=")], "unreadable_launch", 15),
    "the name is taken": ([("    o =", "    EVEN_N = 1\n    o =")], "name_taken", 6),
}


@pytest.mark.parametrize(("pairs", "code", "line"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals(refusal: Callable[..., object], pairs: list[tuple[str, str]], code: str, line: int) -> None:
    found = refusal("alignment_hints", changed(*pairs))
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]
