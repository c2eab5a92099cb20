"""div_to_reciprocal: which divisors are proved, what is written instead, and what is left alone."""

from collections.abc import Callable

import pytest

NORM = """def kernel(x, y, eps, D: tl.constexpr, BM: tl.constexpr):
    i = tl.program_id(0)
    p = i * D + tl.arange(0, BM)[:, None] * D + tl.arange(0, D)[None, :]
    b_x = tl.load(x + p).to(tl.float32)
    {}
"""
Lines = Callable[..., list[str]]


def norm(*body: str) -> str:
    return NORM.format("\n    ".join(body))


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (["tl.store(y + p, b_x / tl.sqrt(tl.sum(b_x * b_x)))"], ["tl.store(y + p, b_x * tl.rsqrt(tl.sum(b_x * b_x)))"]),
        (["b_r = 1 / tl.sqrt(tl.sum(b_x))", "tl.store(y + p, b_x * b_r)"], ["b_r = tl.rsqrt(tl.sum(b_x))"]),
        (
            ["b_r = 2.0 / (tl.math.sqrt(eps * tl.sum(b_x)))", "tl.store(y + p, b_x * b_r)"],
            ["b_r = 2.0 * (tl.math.rsqrt(eps * tl.sum(b_x)))"],
        ),
        (["b_x /= tl.sum(b_x, 1).sqrt()[:, None]", "tl.store(y + p, b_x)"], ["b_x *= tl.sum(b_x, 1).rsqrt()[:, None]"]),
        (
            ["n = tl.sqrt(tl.sum(b_x, 1))", "tl.store(y + p, b_x / n[:, None])"],
            ["inv_n = tl.rsqrt(tl.sum(b_x, 1))", "tl.store(y + p, b_x * inv_n[:, None])"],
        ),
        (
            ["n = tl.sqrt(tl.sum(b_x, 1))", "tl.store(y + p, b_x / n[:, None] + n[:, None])"],
            ["tl.store(y + p, b_x * (1.0 / n)[:, None] + n[:, None])"],
        ),
        (
            ["tl.store(y + p, b_x / (tl.sqrt(tl.sum(b_x, 1)) + 1e-6)[:, None])"],
            ["tl.store(y + p, b_x * (1.0 / (tl.sqrt(tl.sum(b_x, 1)) + 1e-6))[:, None])"],
        ),
        (
            ["b_e = tl.exp(b_x - tl.max(b_x, 1)[:, None])", "tl.store(y + p, b_e / tl.sum(b_e, axis=1)[:, None])"],
            ["tl.store(y + p, b_e * (1.0 / tl.sum(b_e, axis=1))[:, None])"],
        ),
        (
            ["tl.store(y + p, b_x / (1 + tl.exp(-tl.abs(tl.sum(b_x)))))"],
            ["tl.store(y + p, b_x * (1.0 / (1 + tl.exp(-tl.abs(tl.sum(b_x))))))"],
        ),
    ],
)
def test_proved_divisors(rewrite: Lines, body: list[str], after: list[str]) -> None:
    assert rewrite("div_to_reciprocal", norm(*body)) == after


@pytest.mark.parametrize(
    "divisor",
    [
        "tl.sum(b_x, 1)[:, None]",  # anything
        "(tl.sum(b_x * b_x, 1) + 1e-6)[:, None]",  # may be infinite, and huge before that
        "(1 + tl.exp(-tl.sum(b_x, 1)))[:, None]",  # likewise
        "(tl.sqrt(tl.sum(b_x, 1)) + eps)[:, None]",  # eps may be 0
        "(tl.sqrt(tl.sum(b_x, 1)) + 1e-37)[:, None]",  # tiny: its reciprocal is near the end of the range
        "tl.sum(tl.exp(b_x - tl.max(b_x, 0)[None, :]), 1)[:, None]",  # the maximum is of columns, the sum of rows
        "tl.sum(tl.exp(b_x - tl.max(b_x + 1, 1)[:, None]), 1)[:, None]",  # not its own maximum
        "tl.sum(tl.exp(b_x - tl.where(eps > 0, tl.max(b_x, 1), 0.0)[:, None]), 1)[:, None]",  # not always the maximum
        "tl.where(tl.sum(b_x, 1) == 0, 1.0, tl.sum(b_x, 1))[:, None]",  # not zero, but maybe tiny
        "tl.where(tl.arange(0, BM) < 3, tl.sum(tl.exp(tl.abs(b_x) - 90), 1), 1.0)[:, None]",
        "tl.minimum(tl.sum(b_x), 1.0)",
        "eps",
    ],
)
def test_unproved_divisors(refusal: Callable[..., object], divisor: str) -> None:
    found = refusal("div_to_reciprocal", norm(f"tl.store(y + p, b_x / {divisor})"))
    assert (found.code, found.line) == ("divisor_unproved", 10)  # type: ignore[attr-defined]


def test_a_changed_maximum_is_no_maximum(refusal: Callable[..., object]) -> None:
    body = norm(
        "b_m = tl.max(b_x, 1)",
        "b_x += 1.0",
        "b_e = tl.exp(b_x - b_m[:, None])",
        "tl.store(y + p, b_e / tl.sum(b_e, 1)[:, None])",
    )
    assert refusal("div_to_reciprocal", body).code == "divisor_unproved"  # type: ignore[attr-defined]


def test_a_condition_on_rows_says_nothing_of_columns(refusal: Callable[..., object]) -> None:
    body = norm(
        "o = tl.arange(0, BM)",
        "b_m = tl.where(o < 3, tl.max(b_x, 0), 0.0)",
        "b_e = tl.exp(b_x - b_m[None, :])",
        "b_l = tl.where(o < 3, tl.sum(b_e, 1), 1.0)",
        "tl.store(y + p, b_e / b_l[:, None])",
    )
    assert refusal("div_to_reciprocal", body).code == "divisor_unproved"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (["tl.store(y + p, tl.load(x + p) // D)"], "integer_division"),
        (["tl.store(y + p, b_x + tl.arange(0, D)[None, :] / tl.program_id(0))"], "integer_division"),
        (["tl.store(y + p, b_x)"], "pattern_not_found"),
        (["tl.store(y + i, tl.sum(b_x) / D)"], "pattern_not_found"),  # one number by another: nothing to gain
        (["tl.store(y + p, b_x / 448.0)"], "pattern_not_found"),  # a literal
        (["tl.store(y + p, b_x * tl.rsqrt(tl.sum(b_x)))"], "already_applied"),
    ],
)
def test_refusals(refusal: Callable[..., object], body: list[str], code: str) -> None:
    assert refusal("div_to_reciprocal", norm(*body)).code == code  # type: ignore[attr-defined]


def test_a_helper_that_casts_needs_a_wide_argument(rewrite: Lines, refusal: Callable[..., object]) -> None:
    head = "import triton\nimport triton.language as tl\n\n"
    head += "@triton.jit\ndef root(x):\n    return tl.sqrt(x.to(tl.float32))\n\n"
    kernel = "@triton.jit\ndef kernel(x, y):\n    i = tl.program_id(0)\n    tl.store(y + i, 3.0 / root({}))\n"
    assert rewrite("div_to_reciprocal", head + kernel.format("tl.load(x + i).to(tl.float32)")) == [
        "tl.store(y + i, 3.0 * tl.rsqrt(tl.load(x + i).to(tl.float32)))"
    ]
    assert refusal("div_to_reciprocal", head + kernel.format("tl.load(x + i)")).code == "pattern_not_found"  # type: ignore[attr-defined]


def test_a_taken_name_is_not_taken_again(rewrite: Lines) -> None:
    body = norm("inv_n = 3", "n = tl.sqrt(tl.sum(b_x))", "tl.store(y + p, b_x / n + inv_n)")
    assert rewrite("div_to_reciprocal", body) == ["n = tl.rsqrt(tl.sum(b_x))", "tl.store(y + p, b_x * n + inv_n)"]


def test_a_root_that_meets_another_value_stays(rewrite: Lines) -> None:
    body = norm(
        "n = tl.sqrt(tl.sum(b_x))",
        "if BM > 4:",
        "    n = 2.0 * n",
        "tl.store(y + p, b_x / n)",
        "tl.store(x + p, b_x / tl.sqrt(eps))",
    )
    assert rewrite("div_to_reciprocal", body) == ["tl.store(x + p, b_x * tl.rsqrt(eps))"]
