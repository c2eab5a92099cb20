"""exp_to_exp2: where log2(e) enters, what changes its unit with it, and what refuses."""

from collections.abc import Callable

import pytest

SCORES = """def kernel(s, y, z, scale, N, BN: tl.constexpr):
    i = tl.program_id(0)
    o = tl.arange(0, BN)
    b_s = tl.load(s + i * N + o, mask=o < N, other=0.0).to(tl.float32)
    {}
"""
L = "1.4426950408889634"
LN2 = "0.6931471805599453"


def scores(*body: str) -> str:
    return SCORES.format("\n    ".join(body))


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (["tl.store(y + o, tl.exp(b_s * scale))"], [f"tl.store(y + o, tl.exp2(b_s * (scale * {L})))"]),
        (["tl.store(y + o, tl.exp(-b_s * 0.5))"], [f"tl.store(y + o, tl.exp2(-b_s * (0.5 * {L})))"]),
        (
            ["b_s *= scale", "tl.store(y + o, tl.exp(b_s - tl.max(b_s, 0)))"],
            [f"b_s *= (scale * {L})", "tl.store(y + o, tl.exp2(b_s - tl.max(b_s, 0)))"],
        ),
        (
            ["b_c = tl.cumsum(b_s, 0)", "tl.store(y + o, tl.exp(b_c))", "tl.store(z + o, tl.exp(-b_c))"],
            [
                f"b_s = tl.load(s + i * N + o, mask=o < N, other=0.0).to(tl.float32) * {L}",
                "tl.store(y + o, tl.exp2(b_c))",
                "tl.store(z + o, tl.exp2(-b_c))",
            ],
        ),
        (
            [
                "b_s = tl.where(o < N, scale * b_s, -float('inf'))",
                "b_m = tl.max(b_s, 0)",
                "b_p = tl.exp(b_s - b_m)",
                "tl.store(y + o, b_p)",
                "tl.store(z + i, b_m + tl.log(tl.sum(b_p)))",
            ],
            [
                f"b_s = tl.where(o < N, (scale * {L}) * b_s, -float('inf'))",
                "b_p = tl.exp2(b_s - b_m)",
                f"tl.store(z + i, (b_m * {LN2}) + tl.log(tl.sum(b_p)))",
            ],
        ),
        (
            ["r = scale + 1.0", "tl.store(y + o, tl.exp(b_s * r))", "tl.store(z + o, tl.exp(tl.minimum(r * b_s, 0)))"],
            [
                f"r = (scale + 1.0) * {L}",
                "tl.store(y + o, tl.exp2(b_s * r))",
                "tl.store(z + o, tl.exp2(tl.minimum(r * b_s, 0)))",
            ],
        ),
        (
            ["r = scale + 1.0", "tl.store(y + o, tl.exp(b_s * r))", "tl.store(z + o, b_s * r)"],
            [f"tl.store(y + o, tl.exp2(b_s * (r * {L})))"],
        ),
    ],
)
def test_the_factor_enters_once(rewrite: Callable[..., list[str]], body: list[str], after: list[str]) -> None:
    assert rewrite("exp_to_exp2", scores(*body)) == after


@pytest.mark.parametrize(
    ("body", "code", "line"),
    [
        (["tl.store(y + o, tl.exp(b_s))"], "exponent_not_scalable", 10),
        (
            ["tl.store(y + o, tl.exp(tl.maximum(b_s * scale, -1e4)))"],
            "exponent_not_scalable",
            10,
        ),  # a bound in natural units
        (
            ["b_s = b_s * scale", "b_s = tl.where(o < N, b_s, -1e9)", "tl.store(y + o, tl.exp(b_s))"],
            "exponent_not_scalable",
            11,
        ),
        (["b_s = b_s * scale", "tl.store(y + o, tl.exp(b_s))", "tl.store(z + o, b_s)"], "base_escapes", 12),
        (["b_s = b_s * scale", "tl.store(y + o, tl.exp(b_s))", "tl.store(z + o, tl.sigmoid(b_s))"], "base_escapes", 12),
        (
            [
                "b_s = b_s * scale",
                "tl.store(y + o, tl.exp(b_s))",
                "if BN > 3:",
                "    b_s = b_s * b_s",
                "tl.store(z + o, b_s)",
            ],
            "base_escapes",
            14,
        ),
        (
            ["b_s = b_s * scale", "tl.store(y + o, tl.exp(b_s))", "tl.store(z + o, tl.exp2(b_s))"],
            "mixed_exponent_base",
            11,
        ),
        (
            ["b_h = b_s.to(tl.bfloat16)", "tl.store(y + o, tl.exp((b_h * 0.5).to(tl.float32)))"],
            "exponent_not_scalable",
            11,
        ),
        (["tl.store(y + o, tl.exp2(b_s))"], "already_applied", 10),
        (["tl.store(y + o, b_s)"], "pattern_not_found", 6),
        (["c = [j for j in range(2)]", "tl.store(y + o, tl.exp(b_s * scale))"], "unknown_construct", 10),
    ],
)
def test_refusals(refusal: Callable[..., object], body: list[str], code: str, line: int) -> None:
    found = refusal("exp_to_exp2", scores(*body))
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]


def test_a_conversion_inside_the_loop_costs_too_much(refusal: Callable[..., object]) -> None:
    body = scores(
        "for j in range(N):",
        "    b_t = (b_s + j) * scale",
        "    tl.store(y + j, tl.sum(tl.exp(b_t)))",
        "    tl.store(z + j * BN + o, b_t)",
    )
    assert refusal("exp_to_exp2", body).code == "base_escapes"  # type: ignore[attr-defined]


def test_one_arm_of_a_branch_saves_once(refusal: Callable[..., object]) -> None:
    body = scores("if BN > 8:", "    tl.store(y + o, tl.exp(b_s))", "else:", "    tl.store(z + o, tl.exp(b_s))")
    assert refusal("exp_to_exp2", body).code == "exponent_not_scalable"  # type: ignore[attr-defined]


def test_a_comparison_with_a_finite_number_is_converted_back(rewrite: Callable[..., list[str]]) -> None:
    body = scores(
        "b_m = tl.max(b_s) * scale", "b_p = tl.exp(b_s * scale - b_m)", "tl.store(y + o, b_p, mask=b_m > 5.0)"
    )
    assert f"tl.store(y + o, b_p, mask=(b_m * {LN2}) > 5.0)" in rewrite("exp_to_exp2", body)


def test_a_helper_linear_in_a_block_takes_no_factor(refusal: Callable[..., object]) -> None:
    head = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef gate(x, rate):\n    return {}\n\n"
    kernel = (
        "@triton.jit\ndef kernel(s, y, rate, BN: tl.constexpr):\n    o = tl.program_id(0) * BN + tl.arange(0, BN)\n"
        "    tl.store(y + o, tl.exp(gate(tl.load(s + o).to(tl.float32), rate)))\n"
    )
    for result in ("x + rate", "x * rate * rate", "x * tl.log(rate)"):
        assert refusal("exp_to_exp2", head.format(result) + kernel).code == "exponent_not_scalable"  # type: ignore[attr-defined]


def test_conversions_nest_in_what_is_multiplied(rewrite: Callable[..., list[str]]) -> None:
    body = scores(
        "b_s = b_s * scale",
        "b_t = b_s * tl.load(z + o).to(tl.float32)",
        "for j in range(N):",
        "    tl.store(y + j * BN + o, tl.exp(b_s - b_t) + tl.exp(b_t) + tl.exp(b_s))",
    )
    assert rewrite("exp_to_exp2", body) == [
        f"b_s = b_s * (scale * {L})",
        f"b_t = (b_s * {LN2}) * tl.load(z + o).to(tl.float32) * {L}",
        "tl.store(y + j * BN + o, tl.exp2(b_s - b_t) + tl.exp2(b_t) + tl.exp2(b_s))",
    ]
