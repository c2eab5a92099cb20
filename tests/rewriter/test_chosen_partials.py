"""`tl.where` between partial sums: still one where every tile chooses alike, else none."""

from __future__ import annotations

import pytest

from skel.rewriter.analysis.facts import analyse
from skel.rewriter.analysis.lanes import lane_report
from skel.rewriter.kernel.definition import load_module

KERNEL = '''import triton
import triton.language as tl


@triton.jit
def rows(x, y, g, out, n, V: tl.constexpr, BV: tl.constexpr, BR: tl.constexpr):
    i_v = tl.program_id(0)
    o_v = i_v * BV + tl.arange(0, BV)
    o_r = tl.arange(0, BR)
    mask = (o_v < V)[None, :]
    b_x = tl.load(x + o_r[:, None] * V + o_v[None, :], mask=mask, other=0.0)
    b_y = tl.load(y + o_r[:, None] * V + o_v[None, :], mask=mask, other=0.0)
    first = tl.sum(b_x, 1)
    second = tl.sum(b_y, 1)
    chosen = tl.where({condition}, first, {other})
    tl.store(out + i_v * n + o_r, chosen)
'''


@pytest.mark.parametrize(("condition", "other", "verdict"), [
    ("o_r < n", "second", "linear_partials"),
    ("o_r < n", "0.0", "linear_partials"),
    ("o_r < n", "1.0", "nonlinear_partials"),
    ("o_r < n", "tl.exp(second)", "nonlinear_partials"),
    ("o_r < i_v", "second", "nonlinear_partials"),
    ("first > second", "second", "nonlinear_partials"),
])
def test_a_choice_between_partials(condition: str, other: str, verdict: str) -> None:
    module = load_module(KERNEL.format(condition=condition, other=other), "rows.py")
    facts = analyse(module, module.kernels[0])
    (axis,) = facts.tiled_axes
    assert lane_report(facts, axis).verdict == verdict
