"""set_dot_precision: which dots are given a precision, and how the caller can set it."""

from collections.abc import Callable

import pytest

CHAIN = """def kernel(a, b, h, T, D: tl.constexpr):
    o = tl.program_id(0) * D + tl.arange(0, D)
    p = o[:, None] * D + o[None, :]
    b_h = tl.zeros([D, D], dtype=tl.float32)
    for t in range(T):
        b_a = tl.load(a + t * D * D + p)
        {}
    tl.store(h + p, b_h)
"""


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("b_h = tl.dot(b_a, b_h)", "b_h = tl.dot(b_a, b_h, input_precision=DOT_PRECISION)"),
        (
            "b_h += tl.dot(b_a.to(tl.float32), b_a.to(tl.float32),)",
            "b_h += tl.dot(b_a.to(tl.float32), b_a.to(tl.float32), input_precision=DOT_PRECISION,)",
        ),
        (
            "b_h = tl.dot(b_h, tl.trans(b_a), acc=b_h)",
            "b_h = tl.dot(b_h, tl.trans(b_a), acc=b_h, input_precision=DOT_PRECISION)",
        ),
        (
            "b_h = b_h * tl.sum(tl.dot((b_a), (b_h)))",
            "b_h = b_h * tl.sum(tl.dot((b_a), (b_h), input_precision=DOT_PRECISION))",
        ),
    ],
)
def test_carried_fp32_dots(rewrite: Callable[..., list[str]], line: str, after: str) -> None:
    assert rewrite("set_dot_precision", CHAIN.format(line)) == [
        'def kernel(a, b, h, T, D: tl.constexpr, DOT_PRECISION: tl.constexpr = "tf32x3"):',
        after,
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("b_h = tl.dot(b_a, b_h, allow_tf32=False)", "dot_precision_pinned"),
        ('b_h = tl.dot(b_a, b_h, input_precision="tf32")', "dot_precision_pinned"),
        ('b_h = tl.dot(b_a, b_h, b_h, "ieee")', "dot_precision_pinned"),
        ("b_h = tl.dot(b_a, b_a) + b_h", "dot_operands_not_fp32"),  # whatever is loaded
        ("b_h += tl.dot(b_h.to(tl.bfloat16), b_a)", "dot_operands_not_fp32"),
        ("tl.store(b + p, tl.dot(b_a, b_h))", "dot_not_carried"),
        ("b_h += b_a", "dot_not_carried"),
    ],
)
def test_other_dots(refusal: Callable[..., object], line: str, code: str) -> None:
    found = refusal("set_dot_precision", CHAIN.format(line))
    assert found.code == code  # type: ignore[attr-defined]
    if "tl.dot" in line:
        assert found.line == 12  # type: ignore[attr-defined]


def test_a_dot_after_the_loop_is_not_carried(refusal: Callable[..., object]) -> None:
    body = CHAIN.format("b_h += b_a") + "    tl.store(b + p, tl.dot(b_h, b_h))\n"
    assert refusal("set_dot_precision", body).code == "dot_not_carried"  # type: ignore[attr-defined]


def test_precision_and_target(rewrite: Callable[..., list[str]], refusal: Callable[..., object]) -> None:
    body = CHAIN.format("b_h = tl.dot(b_a, b_h)")
    assert (
        'DOT_PRECISION: tl.constexpr = "ieee"'
        in rewrite("set_dot_precision", body, precision="ieee", target="gfx942")[0]
    )
    assert rewrite("set_dot_precision", body, target="sm_90")
    for target in ("gfx942", "sm_75"):
        assert refusal("set_dot_precision", body, target=target).code == "no_tf32_on_target"  # type: ignore[attr-defined]
    assert refusal("set_dot_precision", body, precision="bf16").code == "bad_setting"  # type: ignore[attr-defined]


def test_signatures_that_cannot_take_the_parameter(refusal: Callable[..., object]) -> None:
    body = CHAIN.format("b_h = tl.dot(b_a, b_h)")
    taken = body.replace("a, b, h, T,", "a, b, h, T, DOT_PRECISION,")
    assert refusal("set_dot_precision", taken).code == "name_taken"  # type: ignore[attr-defined]
    starred = body.replace("D: tl.constexpr", "D: tl.constexpr, *rest")
    assert refusal("set_dot_precision", starred).code == "unknown_construct"  # type: ignore[attr-defined]
