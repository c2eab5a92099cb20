"""Symbolic offsets, against numbers."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from skel.rewriter.analysis import poly as P
from skel.rewriter.analysis.axes import Axis

I_V, I_T = Axis("0"), Axis("1")
LEAVES: dict[str, P.Poly] = {
    "BV": P.symbol("BV"), "K": P.symbol("K"), "s": P.opaque("s"), "2": P.const(2), "-3": P.const(-3), "16": P.const(16),
    "i_v": P.axis_poly(I_V), "i_t": P.axis_poly(I_T), "r": P.lane_range("a", P.symbol("BV")),
    "q": P.lane_range("b", P.const(16)), "0": P.const(0),
}  # fmt: skip
TREES = st.recursive(
    st.sampled_from(sorted(LEAVES)),
    lambda inner: st.tuples(st.sampled_from(["+", "-", "*"]), inner, inner),
    max_leaves=7,
)
NUMBERS = {"BV": 8, "K": 5, "s": 11, "i_v": 3, "i_t": 2, "r": 6, "q": 9}


def _poly(tree: Any) -> P.Poly | None:
    if isinstance(tree, str):
        return LEAVES[tree]
    left, right = _poly(tree[1]), _poly(tree[2])
    if left is None or right is None:
        return None
    return {"+": P.add, "-": P.sub, "*": P.mul}[tree[0]](left, right)


def _number(tree: Any) -> int:
    if isinstance(tree, str):
        return NUMBERS[tree] if tree in NUMBERS else int(tree)
    left, right = _number(tree[1]), _number(tree[2])
    return {"+": left + right, "-": left - right, "*": left * right}[tree[0]]


def _atom(atom: P.Atom) -> int:
    if atom.kind == "axis":
        return NUMBERS["i_v" if atom.axis == I_V else "i_t"]
    if atom.kind == "range":
        return NUMBERS["r" if atom.site == "a" else "q"]
    if atom.kind == "lane":
        size = NUMBERS["BV"] if atom.size == "BV" else int(atom.size)
        return NUMBERS["i_v" if atom.axis == I_V else "i_t"] * size + NUMBERS["r" if atom.site == "a" else "q"]
    return NUMBERS[atom.key]


def _evaluate(poly: P.Poly) -> int:
    total = 0
    for monomial, coefficient in poly.terms:
        for atom in monomial:
            coefficient *= _atom(atom)
        total += coefficient
    return total


@settings(max_examples=500, deadline=None)
@given(TREES)
def test_a_polynomial_has_the_value_of_its_expression(tree: Any) -> None:
    poly = _poly(tree)
    if poly is not None:
        assert _evaluate(poly) == _number(tree)
        assert poly.constant is None or poly.constant == _number(tree)


@settings(max_examples=200, deadline=None)
@given(TREES, TREES)
def test_equal_keys_are_equal_values(a: Any, b: Any) -> None:
    left, right = _poly(a), _poly(b)
    if left is not None and right is not None and left.key == right.key:
        assert _number(a) == _number(b)


def _sum(*parts: P.Poly | None) -> P.Poly:
    total: P.Poly | None = P.const(0)
    for part in parts:
        assert part is not None and total is not None
        total = P.add(total, part)
    assert total is not None
    return total


def test_a_tile_offset_becomes_a_lane() -> None:
    offset = _sum(P.mul(LEAVES["i_v"], LEAVES["BV"]), LEAVES["r"])
    assert offset.lane_axes == {I_V} and not offset.uniform_axes and "BV" not in offset.symbols
    scaled = P.mul(offset, LEAVES["K"])
    assert scaled is not None and scaled.lane_axes == {I_V} and not scaled.uniform_axes
    literal = _sum(P.mul(LEAVES["i_v"], LEAVES["16"]), LEAVES["q"])
    assert literal.lane_axes == {I_V}


def test_what_only_looks_like_a_tile_offset_does_not() -> None:
    twice = _sum(P.mul(LEAVES["i_v"], LEAVES["BV"]), P.mul(LEAVES["i_v"], LEAVES["BV"]), LEAVES["r"])
    other_size = _sum(P.mul(LEAVES["i_v"], LEAVES["K"]), LEAVES["r"])
    next_tile = _sum(P.mul(_sum(LEAVES["i_v"], P.const(1)), LEAVES["BV"]), LEAVES["r"])
    assert I_V in twice.uniform_axes and not twice.lane_axes
    assert I_V in other_size.uniform_axes and not other_size.lane_axes
    assert next_tile.lane_axes == {I_V} and "BV" in next_tile.symbols


def test_lanes_follow_their_dimension() -> None:
    offset = P.move_dims(_sum(P.mul(LEAVES["i_v"], LEAVES["BV"]), LEAVES["r"]), {-1: -2})
    assert offset.lanes_of(-2) == {I_V} and not offset.lanes_of(-1)
