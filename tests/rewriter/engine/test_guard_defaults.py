"""Guards over variants that change a launcher's defaults: the choice of the caller is kept, and not passed over."""

from __future__ import annotations

import pytest

from skel.rewriter.engine.guard import emit_guard
from skel.rewriter.engine.guard_choices import Choice
from skel.rewriter.reasons import Refuse

TEXT = '''\
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, y, N, D: tl.constexpr, BD: tl.constexpr, IS_LOG: tl.constexpr):
    i_d = tl.program_id(0)
    i_n = tl.program_id(1)
    o_d = i_d * BD + tl.arange(0, BD)
    value = tl.load(x + i_n * D + o_d, mask=o_d < D, other=0.0)
    if IS_LOG:
        value = tl.exp(value)
    tl.store(y + i_n * D + o_d, value * 2.0, mask=o_d < D)


def scale(x, is_log=False, *, block: int = 16, num_warps: int = 4):
    if x.ndim != 2:
        raise ValueError("two dimensions")
    N, D = x.shape
    y = torch.empty_like(x)
    scale_kernel[(triton.cdiv(D, block), N)](x, y, N, D=D, BD=block, IS_LOG=is_log, num_warps=num_warps)
    return y
'''
WIDE = TEXT.replace("block: int = 16", "block: int = 64")
WARPS = TEXT.replace("num_warps: int = 4", "num_warps: int = 1")


def _choices(*variants: str | None) -> list[Choice]:
    constants = {"D": 128, "BD": 16, "IS_LOG": True}
    return [Choice(f"n{n}", v, (8, n), constants, {"x": "float32"}) for n, v in zip((1, 16, 64), variants, strict=True)]


def test_runs_only_where_every_changed_default_was_left_alone() -> None:
    made = emit_guard(TEXT, "k.py", "scale_kernel", {"wide": WIDE, "warps": WARPS}, _choices("warps", None, "wide"))
    common = "D == 128 and block == 16 and is_log and x.dtype == torch.float32 and {} and num_warps == 4"
    assert made.conditions == {"warps": common.format("N == 1"), "wide": common.format("N == 64")}


def test_the_changed_parameters_are_not_passed_on() -> None:
    made = emit_guard(TEXT, "k.py", "scale_kernel", {"wide": WIDE}, _choices(None, "wide", "wide"))
    assert "return scale_fused(x, is_log, num_warps=num_warps)" in made.text
    assert "block: int = 64" in made.text


def test_a_check_of_the_arguments_may_stand_before_the_guard() -> None:
    made = emit_guard(TEXT, "k.py", "scale_kernel", {"wide": WIDE}, _choices("wide", "wide", None))
    lines = made.text.splitlines()
    assert lines.index("    N, D = x.shape") < next(i for i, line in enumerate(lines) if "return scale_fused" in line)


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("    N, D = x.shape\n", "    block = block or 16\n    N, D = x.shape\n", "would set it again"),
        ("block: int = 16", "block: int = DEFAULT", "no constant"),
        ('    if x.ndim != 2:\n        raise ValueError("two dimensions")\n', "    x = x.cuda()\n", "more than read"),
        ("    if x.ndim != 2:\n", "    if check(x):\n", "more than read"),
        ("    N, D = x.shape\n", "    num_warps = num_warps * 2\n    N, D = x.shape\n", "would set it again"),
    ],
    ids=["set before", "default is a name", "prologue acts", "check acts", "set twice"],
)
def test_refused(before: str, after: str, why: str) -> None:
    text = TEXT.replace(before, after)
    wide = text.replace("block: int = 16", "block: int = 64").replace("block: int = DEFAULT", "block: int = 64")
    with pytest.raises(Refuse) as refused:
        emit_guard(text, "k.py", "scale_kernel", {"wide": wide}, _choices("wide", None, None))
    assert refused.value.refusal.code == "guard_not_possible"
    assert why in refused.value.refusal.message


def test_other_parameters_are_refused() -> None:
    other = WIDE.replace("def scale(x, is_log=False,", "def scale(x, is_log=False, more=None,")
    with pytest.raises(Refuse, match="other parameters"):
        emit_guard(TEXT, "k.py", "scale_kernel", {"wide": other}, _choices("wide", None, None))


def test_a_parameter_may_be_filled_in_where_it_is_missing() -> None:
    filled = "    if factor is None:\n        factor = x.shape[1] ** -0.5\n    N, D = x.shape\n"
    text = TEXT.replace("is_log=False,", "is_log=False, factor=None,").replace("    N, D = x.shape\n", filled)
    wide = text.replace("= 16", "= 64")
    made = emit_guard(text, "k.py", "scale_kernel", {"wide": wide}, _choices("wide", None, None))
    assert "return scale_fused(x, is_log, factor, num_warps=num_warps)" in made.text


def test_whatever_else_was_given_is_passed_on() -> None:
    text = TEXT.replace("num_warps: int = 4):", "num_warps: int = 4, **kwargs):")
    wide = text.replace("= 16", "= 64")
    made = emit_guard(text, "k.py", "scale_kernel", {"wide": wide}, _choices("wide", None, None))
    assert "return scale_fused(x, is_log, num_warps=num_warps, **kwargs)" in made.text


def test_more_positions_cannot_follow_one_left_out() -> None:
    text = TEXT.replace("is_log=False, *, block: int = 16,", "is_log=False, block: int = 16, *more,")
    with pytest.raises(Refuse, match="can only follow positions"):
        emit_guard(text, "k.py", "scale_kernel", {"wide": text.replace("= 16", "= 64")}, _choices("wide", None, None))
