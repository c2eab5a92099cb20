"""block_pointer_to_mask: what becomes of each part, and what is refused."""

from collections.abc import Callable

import pytest

KERNEL = """def kernel(x, y, T, D, BT: tl.constexpr, BD: tl.constexpr):
    i = tl.program_id(0)
    {}
"""
MAKE = "p = tl.make_block_ptr(x, (T, D), (D, 1), ({}, 0), (BT, BD), (1, 0))"
P = MAKE.format("i * BT")
LOAD = "b = tl.load(p, boundary_check=(0, 1))"


def kernel(*body: str) -> str:
    return KERNEL.format("\n    ".join(body))


@pytest.mark.parametrize(
    ("offset", "mask"),
    [
        ("i * BT", "(o_p_0[:, None] < T)"),
        ("i * BT + 16", "(o_p_0[:, None] < T)"),
        ("i * BT - 16", "(o_p_0[:, None] >= 0) & (o_p_0[:, None] < T)"),
        ("i * D", "(o_p_0[:, None] >= 0) & (o_p_0[:, None] < T)"),
        ("tl.load(y)", "(o_p_0[:, None] >= 0) & (o_p_0[:, None] < T)"),
    ],
)
def test_lower_bounds(rewrite: Callable[..., list[str]], offset: str, mask: str) -> None:
    after = rewrite("block_pointer_to_mask", kernel(MAKE.format(offset), LOAD))
    assert after[3:] == [f"m_p = {mask} & (o_p_1[None, :] < D)", "b = tl.load(p, mask=m_p, other=0)"]


def test_nothing_checked_needs_no_mask(rewrite: Callable[..., list[str]]) -> None:
    after = rewrite("block_pointer_to_mask", kernel(P, "b = tl.load(p)", "tl.store(p, b + 1)"))
    assert after == [
        "o_p_0 = (i * BT) + tl.arange(0, BT).to(tl.int64)",
        "o_p_1 = tl.arange(0, BD).to(tl.int64)",
        "p = x + o_p_0[:, None] * D + o_p_1[None, :]",
    ]


def test_an_advance_moves_the_offsets(rewrite: Callable[..., list[str]]) -> None:
    loop = ["for j in range(D):", "    " + LOAD, "    p = tl.advance(p, (0, BD))"]
    after = rewrite("block_pointer_to_mask", kernel(P, *loop))
    assert after[5:] == [
        "o_p_1 += BD",
        "p = x + o_p_0[:, None] * D + o_p_1[None, :]",
        "m_p = (o_p_0[:, None] >= 0) & (o_p_0[:, None] < T) & (o_p_1[None, :] >= 0) & (o_p_1[None, :] < D)",
    ]


ESCAPES = "block_pointer_escapes"
UNREADABLE = "boundary_not_readable"


@pytest.mark.parametrize(
    ("body", "code", "line"),
    [
        (["b = tl.load(x + i)"], "pattern_not_found", 6),
        (["b = tl.load(tl.make_block_ptr(x, (T,), (1,), (0,), (BT,), (0,)))"], ESCAPES, 8),
        ([P, "q = p", "b = tl.load(q)"], ESCAPES, 9),
        ([P, "helper(p)"], ESCAPES, 9),
        ([P, LOAD, "p = x + i"], ESCAPES, 10),
        ([P, "q = tl.advance(p, (0, BD))", "b = tl.load(q)"], ESCAPES, 9),
        ([P, "p = tl.advance(p, D)", LOAD], ESCAPES, 9),
        ([P, "if i > 3:", "    " + MAKE.format("0"), "p = tl.advance(p, (0, BD))", LOAD], ESCAPES, 11),
        ([P, "for j in range(D):", "    p = tl.advance(p, (0, BD))", "    D = D + 1", LOAD], ESCAPES, 10),
        (["s = (T, D)", "p = tl.make_block_ptr(x, s, (D, 1), (0, 0), (BT, BD), (1, 0))", LOAD], ESCAPES, 9),
        ([P, "b = tl.load(p, boundary_check=(0,), padding_option='nan')"], UNREADABLE, 9),
        ([P, "b = tl.load(p, boundary_check=CHECK)"], UNREADABLE, 9),
        ([P, "b = tl.load(p, padding_option='zero')"], UNREADABLE, 9),
        ([P, "b = tl.load(p, None, None, (0, 1))"], UNREADABLE, 9),
        ([P, LOAD, "tl.store(p, b, boundary_check=(0,))"], UNREADABLE, 10),
        ([P, "b = tl.load(p, boundary_check=(0, 2))"], UNREADABLE, 8),
        ([P, "while i < 3:", "    i += 1", "    break"], "unknown_construct", 11),
    ],
)
def test_refusals(refusal: Callable[..., object], body: list[str], code: str, line: int) -> None:
    found = refusal("block_pointer_to_mask", kernel(*body))
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]
