"""Techniques within a kernel: what shows each, and what only looks like it."""

from __future__ import annotations

import pytest

from tests.rewriter.detectors.looking import seen

ROW = '''
@triton.jit{options}
def kernel(x, y, w, n, scale, D: tl.constexpr, BD: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    o = tl.arange(0, BD)
    b_x = tl.load(x + i * D + o, mask=o < D, other=0.0{load}).to(tl.float32)
    {body}
    tl.store(y + i * D + o, b_x, mask=o < D)
'''
HELPERS = '''
@triton.jit
def inverse_root(x):
    return tl.rsqrt(x)


@triton.jit
def two_to(x):
    return tl.math.exp2(x)
'''


def row(body: str, options: str = "", load: str = "", before: str = "") -> tuple[set[str], set[str]]:
    return seen(before + ROW.format(body=body, options=options, load=load))


@pytest.mark.parametrize(("body", "uses"), [
    ("b_x = b_x * tl.rsqrt(tl.sum(b_x * b_x) + 1e-6)", "div_to_reciprocal"),
    ("b_x = b_x * inverse_root(tl.sum(b_x * b_x) + 1e-6)", "div_to_reciprocal"),
    ("b_x = two_to(b_x)", "exp_to_exp2"),
    ("b_x = tl.math.exp2(b_x)", "exp_to_exp2"),
    ("o = tl.multiple_of(o, 8)", "alignment_hints"),
    ("tl.extra.cuda.gdc_wait()", "dependent_launch"),
    ("b_x = tl.dot(b_x[:, None], b_x[None, :], allow_tf32=False)", "dot_tf32x3"),
    ("b_x = tl.make_tensor_descriptor(x, [n], [1], [BD]).load([0])", "bulk_copy"),
])
def test_uses(body: str, uses: str) -> None:
    assert uses in row(body, before=HELPERS)[0]
    assert uses not in row("rsqrt = b_x\n    exp2 = rsqrt * 2", before=HELPERS)[0]


@pytest.mark.parametrize(("exponent", "found"), [
    ("tl.ceil(tl.log2(tl.max(b_x)))", False),
    ("-e", False),
    ("b_x - tl.log2(tl.sum(b_x))", True),
])
def test_a_whole_power_of_two_is_no_exponential(exponent: str, found: bool) -> None:
    body = f"e = tl.floor(tl.log2(tl.max(b_x)))\n    b_x = b_x * tl.math.exp2({exponent})"
    assert ("exp_to_exp2" in row(body)[0]) is found


def test_what_the_decorator_and_the_load_say() -> None:
    assert "relax_specialization" in row("", options="(do_not_specialize=['n'])")[0]
    assert "relax_specialization" not in row("", options="(do_not_specialize=[])")[0]
    assert "cache_hints" in row("", load=", eviction_policy='evict_first'")[0]
    assert "cache_hints" not in row("", load=", eviction_policy=''")[0]


@pytest.mark.parametrize(("body", "found"), [
    ("b_x = b_x / tl.sqrt(tl.sum(b_x * b_x) + 1e-6)", True),
    ("r = tl.sqrt(tl.sum(b_x * b_x) + 1e-6)\n    b_x = b_x / r", True),
    ("r = 1 / tl.sqrt(tl.sum(b_x * b_x) + 1e-6)\n    b_x *= r", True),
    ("b_x = b_x / tl.sum(b_x)", False),
    ("sqrt = tl.sum(b_x)\n    b_x = b_x / sqrt", False),
    ("b_x = tl.sqrt(b_x) / D", False),
])
def test_divisions_by_roots(body: str, found: bool) -> None:
    assert ("div_to_reciprocal" in row(body)[1]) is found


@pytest.mark.parametrize(("body", "found"), [
    ("a = tl.exp(b_x) + 1\n    b_x = a / tl.exp(b_x)", True),
    ("a = tl.exp(b_x) + 1\n    b_x = b_x * 2\n    b_x = a / tl.exp(b_x)", False),
    ("if n > 2:\n        b_x = tl.exp(b_x)\n    else:\n        b_x = tl.exp(b_x) + 1", False),
    ("a = tl.load(w + o)\n    b_x = a + tl.load(w + o)", True),
    ("a = tl.load(w + o)\n    tl.store(w + o, b_x)\n    b_x = a + tl.load(w + o)", False),
])
def test_repeated_work(body: str, found: bool) -> None:
    assert ("reuse_subexpression" in row(body)[1]) is found


LOOP = '''
@triton.jit
def kernel(q, k, v, h0, out, T, K: tl.constexpr, BK: tl.constexpr, BT: tl.constexpr, START: tl.constexpr):
    o_k = tl.arange(0, BK)
    o_t = tl.arange(0, BT)
    b_q = tl.load(q + o_t[:, None] * K + o_k[None, :])
    b_h = tl.zeros([BT, BK], dtype=tl.float32)
    {before}
    for t in {loop}:
        b_k = tl.load(k + t * K + o_k[:, None] + o_t[None, :] * 0).to(tl.float32)
        b_s = {score}
        b_h += b_s
    tl.store(out + o_t[:, None] * K + o_k[None, :], b_h)
'''


def loop(before: str = "pass", loop: str = "range(T)", score: str = "b_q") -> tuple[set[str], set[str]]:
    return seen(LOOP.format(before=before, loop=loop, score=score))


@pytest.mark.parametrize(("score", "found"), [
    ("tl.exp(tl.dot(b_q, b_k))", True),
    ("tl.exp(tl.sum(b_q * 2.0, 1)[:, None] - 3.0) + b_q", True),
    ("tl.exp(b_q)", False),
    ("tl.exp(tl.max(b_q, 1)[:, None] - b_q)", False),
    ("tl.math.exp2(tl.dot(b_q, b_k))", False),
])
def test_exponentials_of_scores(score: str, found: bool) -> None:
    assert ("exp_to_exp2" in loop(score=score)[1]) is found


def test_an_exponential_outside_a_loop_is_left_alone() -> None:
    assert "exp_to_exp2" not in loop(before="b_h = tl.exp(tl.dot(b_q, b_q))")[1]


@pytest.mark.parametrize(("before", "loop_", "found"), [
    ("if START:\n        b_h += tl.load(h0 + o_t[:, None] * K + o_k[None, :]).to(tl.float32)", "range(T)", True),
    ("b_h = tl.load(h0 + o_t[:, None] * K + o_k[None, :])", "range(T)", False),
    ("b_h += tl.load(h0 + o_t[:, None] * K + o_k[None, :])", "tl.static_range(4)", False),
    ("b_h -= tl.load(h0 + o_t[:, None] * K + o_k[None, :])", "range(T)", False),
    ("b_q += tl.load(h0 + o_t[:, None] * K + o_k[None, :])", "range(T)", False),
])
def test_state_loads(before: str, loop_: str, found: bool) -> None:
    assert ("defer_state_load" in loop(before=before, loop=loop_)[1]) is found


@pytest.mark.parametrize(("score", "found"), [
    ("tl.dot(b_q.to(tl.float32), b_k)", True),
    ("tl.dot(b_q.to(tl.float32), b_k, input_precision='ieee')", False),
    ("tl.dot(b_q.to(tl.bfloat16), b_k.to(tl.bfloat16))", False),
])
def test_fp32_dots_into_a_carry(score: str, found: bool) -> None:
    assert ("dot_tf32x3" in loop(score=score)[1]) is found


@pytest.mark.parametrize(("loop_", "found"), [
    ("tl.range(0, T, num_stages=3)", True), ("tl.range(0, T, num_stages=1)", False), ("range(T)", False)])
def test_stages_in_the_loop(loop_: str, found: bool) -> None:
    assert ("pipeline_loads" in loop(loop=loop_)[0]) is found


OFFSETS = '''
@triton.jit
def kernel(x, y, index, D, T: tl.int64, SIZE: tl.constexpr, BD: tl.constexpr):
    i = {axis}
    o = tl.arange(0, BD)
    tl.store(y + {offset} + o, tl.load(x + o), mask=o < D)
'''


@pytest.mark.parametrize(("axis", "offset", "found"), [
    ("tl.program_id(0)", "i * D", True),
    ("tl.program_id(0)", "i * SIZE", True),
    ("tl.program_id(0).to(tl.int64)", "i * D", False),
    ("tl.program_id(1)", "i * D", False),
    ("tl.program_id(0)", "i * T", False),
    ("tl.program_id(0)", "i * BD", False),
    ("tl.program_id(0) % 8", "i * D", False),
    ("tl.program_id(0)", "tl.load(index + o) * D", True),
    ("tl.program_id(0)", "tl.load(index + o).to(tl.int64) * D", False),
])
def test_narrow_offsets(axis: str, offset: str, found: bool) -> None:
    assert ("int64_offsets" in seen(OFFSETS.format(axis=axis, offset=offset))[1]) is found
