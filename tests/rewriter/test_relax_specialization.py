"""relax_specialization: counts that may be run-time numbers, and what needs a constant."""

from collections.abc import Callable

import pytest

KERNEL = """import triton
import triton.language as tl

@triton.jit{decorator}
def kernel(x, y, B{annotation}, T, D: tl.constexpr):
    o = tl.program_id(0) * D + tl.arange(0, D)
    {body}


def run(x):
    B, T, D = x.shape
    kernel[(4,)](x, x.new_empty(9), {b}, T, D=D)
"""


def kernel(*body: str, constexpr: bool = True, decorator: str = "", b: str = "B") -> str:
    annotation = ": tl.constexpr" if constexpr else ""
    return KERNEL.format(body="\n    ".join(body), annotation=annotation, decorator=decorator, b=b)


STORE = "tl.store(y + o, o)"


@pytest.mark.parametrize(
    "body",
    [
        ["for b in range(B):", "    tl.store(y + o + b, o)"],
        ["tl.store(y + o * B, o, mask=o < B)"],
        ["i = tl.program_id(0)", "tl.store(y + i // B + i % B, i + B)"],
        ["tl.store(y + o, o, mask=tl.load(x).to(tl.int32) - B > 0)"],
    ],
)
def test_a_count_becomes_a_number(rewrite: Callable[..., list[str]], body: list[str]) -> None:
    after = rewrite("relax_specialization", kernel(*body))
    assert after == ['@triton.jit(do_not_specialize=["B"])', "def kernel(x, y, B, T, D: tl.constexpr):"]


@pytest.mark.parametrize(
    "use",
    [
        "tl.store(y + tl.arange(0, B), 1)",
        "tl.store(y + o, tl.zeros([B], dtype=tl.float32))",
        "for b in tl.static_range(B): tl.store(y + b, b)",
        "if B > 4: tl.store(y + o, o)",
        "tl.store(y + o, o if B > 4 else 0)",
        "tl.store(y + o, o / B)",
        "tl.store(y + o * (B * D), o)",
        "tl.store(y + o, o + (B - 1) // D)",
        "tl.store(y + o, o + B // 2)",
        "helper(y, B)",
        "tl.store(y + o, o, mask=B is not None)",
        "n = B",
        "tl.store(y + o, tl.load(x + o) + B)",  # an int8 would stay one beside a constexpr
        "tl.store(y + o, tl.load(x + o).to(tl.int8) * B)",
        "tl.store(y + o, o - B ** 2)",
    ],
)
def test_what_needs_a_constant(refusal: Callable[..., object], use: str) -> None:
    found = refusal("relax_specialization", kernel(use, STORE))
    assert (found.code, found.line) == ("constexpr_needed", 7)  # type: ignore[attr-defined]


@pytest.mark.parametrize("b", ["4", "x.shape[1]", "D", "T", "x.stride(0)"])
def test_what_does_not_vary_is_left(refusal: Callable[..., object], b: str) -> None:
    body = "tl.store(y + o, o, mask=o < B)"
    assert refusal("relax_specialization", kernel(body, b=b)).code == "pattern_not_found"  # type: ignore[attr-defined]


def test_a_factor_of_a_block_stays(refusal: Callable[..., object], rewrite: Callable[..., list[str]]) -> None:
    body = "tl.store(y + o * B, o, mask=o < B)"
    assert refusal("relax_specialization", kernel(body, constexpr=False)).code == "pattern_not_found"  # type: ignore[attr-defined]
    body = "tl.store(y + o, o, mask=o < B)"
    assert rewrite("relax_specialization", kernel(body, constexpr=False)) == ['@triton.jit(do_not_specialize=["B"])']


def test_a_tuned_or_listed_parameter_stays(refusal: Callable[..., object]) -> None:
    listed = '(do_not_specialize=["T"])'
    found = refusal("relax_specialization", kernel("tl.store(y + o, o, mask=o < B)", decorator=listed))
    assert found.code == "already_applied"  # type: ignore[attr-defined]
    text = kernel("tl.store(y + o, o, mask=o < B)").replace(
        "@triton.jit", '@triton.heuristics({"F": lambda a: a["B"] > 1})\n@triton.jit'
    )
    assert refusal("relax_specialization", text).code == "pattern_not_found"  # type: ignore[attr-defined]
