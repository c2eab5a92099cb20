"""widen_index: which products may wrap, where the cast goes, and where it cannot."""

from collections.abc import Callable

import pytest

ROWS = """def kernel(x, index, y, N, stride, H: tl.constexpr, D: tl.constexpr, BM: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, D)
    {}
"""


def rows(*body: str) -> str:
    return ROWS.format("\n    ".join(body))


WIDE_I = "i = tl.program_id(0).to(tl.int64)"


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (["tl.store(y + i * stride + o_d, 0)"], [WIDE_I]),
        (["tl.store(y + (i * H + 3) * D + o_d, 0)"], [WIDE_I]),
        (["y += D * i", "tl.store(y + o_d, 0)"], [WIDE_I]),
        (
            ["seed = i * N", "tl.store(y + i * stride + o_d, seed % 7)"],
            ["tl.store(y + tl.cast(i, tl.int64) * stride + o_d, seed % 7)"],
        ),
        (
            ["tl.store(y + i * stride + o_d, i * 2654435761)"],
            ["tl.store(y + tl.cast(i, tl.int64) * stride + o_d, i * 2654435761)"],
        ),
        (["p = (i * N).to(tl.int64)", "tl.store(y + p, 0)"], [WIDE_I]),
        (["r = tl.load(index + i)", "tl.store(y + r * D + o_d, 0)"], ["r = tl.load(index + i).to(tl.int64)"]),
        (["tl.store(y + i // H * stride + o_d, 0)"], ["tl.store(y + (i // H).to(tl.int64) * stride + o_d, 0)"]),
        (
            [
                "o_m = i * BM + tl.arange(0, BM)",
                "tl.store(y + o_m[:, None] * D + o_d[None, :], 0, mask=(o_m < N)[:, None])",
            ],
            [WIDE_I],
        ),
        (
            ["for t in range(N):", "    tl.store(y + t * stride + o_d, 0)"],
            ["tl.store(y + tl.cast(t, tl.int64) * stride + o_d, 0)"],
        ),
        (
            ["for t in range(i, N):", "    tl.store(y + t * stride + o_d, i)"],
            ["tl.store(y + tl.cast(t, tl.int64) * stride + o_d, i)"],
        ),
        (
            [
                "p_y = tl.make_block_ptr(y + i * stride, (N, D), (D, 1), (i, 0), (BM, D), (1, 0))",
                "tl.store(p_y, 0)",
            ],
            [
                "p_y = tl.make_block_ptr(y + tl.cast(i, tl.int64) * stride, (N, D), (D, 1), (i, 0), (BM, D), (1, 0))"
            ],
        ),
        (
            [
                "if H > 1:",
                "    r = tl.load(index + i).to(tl.int64)",
                "else:",
                "    r = i * N",
                "tl.store(y + r * D, 0)",
            ],
            [WIDE_I],
        ),
        (
            ["o = 0", "for t in range(N):", "    tl.store(y + i * stride + o, 0)", "    o = i + t"],
            ["tl.store(y + tl.cast(i, tl.int64) * stride + o, 0)"],
        ),
    ],
)
def test_the_cast_stands_at_the_root(rewrite: Callable[..., list[str]], body: list[str], after: list[str]) -> None:
    assert rewrite("widen_index", rows(*body)) == after


@pytest.mark.parametrize(
    "body",
    [
        ["tl.store(y + i + o_d, 0)"],
        ["i = i.to(tl.int64)", "tl.store(y + i * stride + o_d, 0)"],
        ["tl.store(y + (i.to(tl.int64) * H + o_d) * D, 0)"],
        ["o_m = i * BM + tl.arange(0, BM)", "tl.store(y + o_m, 0, mask=o_m < N)"],  # below N
        ["tl.store(y + i % H * D + o_d, 0)"],  # below H * D
        ["tl.store(y + o_d * D, 0)"],
        ["tl.store(y + 2 * i, 0)"],
        ["for t in range(H):", "    tl.store(y + t * D + o_d, 0)"],
        ["tl.store(y + o_d, i * N)"],  # a value, not an offset
    ],
)
def test_wide_or_bounded(refusal: Callable[..., object], body: list[str]) -> None:
    assert refusal("widen_index", rows(*body)).code == "index_already_wide"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "body",
    [
        ["o = 0", "for t in range(N):", "    tl.store(y + o + o_d, 0)", "    o = i * stride"],  # a carried int32
        [
            "o = N",
            "if N > 3:",
            "    o = i * stride",
            "tl.store(y + o, 0)",
        ],  # either type behind a branch taken at run time
    ],
)
def test_types_that_must_not_change(refusal: Callable[..., object], body: list[str]) -> None:
    found = refusal("widen_index", rows(*body))
    assert found.code == "index_not_root"  # type: ignore[attr-defined]
    assert found.line is not None and found.line >= 9  # type: ignore[attr-defined]
