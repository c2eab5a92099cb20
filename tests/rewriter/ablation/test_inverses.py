"""Inverses: what each takes out of a kernel, and why it refuses where there is nothing to take out."""

from __future__ import annotations

import ast

import pytest

from skel.rewriter.ablation.registry import INVERSES
from skel.rewriter.ablation.undo import without
from skel.rewriter.reasons import Refuse
from skel.store.load import load_all
from skel.store.schema import CODES

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit{}\ndef kernel({}):\n"
BY_NAME = {inverse.name: inverse for inverse in INVERSES}
GROUPED = """width = GROUP * grid_n
group = pid // width
first = group * GROUP
size = min(grid_m - first, GROUP)
pid_m = first + (pid % width) % size
pid_n = (pid % width) // size"""
EVEN = """if EVEN:
    a = tl.load(x + i, mask=m)
else:
    a = tl.load(x + i, mask=m & (i < n), other=0.0)"""
HINT = 'eviction_policy="evict_first"'


def text_of(body: str, parameters: str = "x, y, n, B: tl.constexpr", options: str = "") -> str:
    return HEAD.format(options, parameters) + "".join(f"    {line}\n" for line in body.splitlines())


def changed(name: str, text: str) -> list[str]:
    """The lines that are new, without their indentation."""
    after = without(text, "case.py", "kernel", BY_NAME[name])
    ast.parse(after)
    before = text.splitlines()
    return [line.strip() for line in after.splitlines() if line not in before]


TAKEN_OUT = [
    ("exp2_to_exp", "tl.store(y, tl.exp2(s - m))", ["tl.store(y, tl.exp((s - m) * 0.6931471805599453))"]),
    ("exp2_to_exp", "tl.store(y, tl.math.exp2(s))", ["tl.store(y, tl.exp(s * 0.6931471805599453))"]),
    ("rsqrt_to_division", "r = v * tl.rsqrt(w + 1)", ["r = v / tl.sqrt(w + 1)"]),
    ("rsqrt_to_division", "r = tl.rsqrt(w) * v", ["r = (1.0 / tl.sqrt(w)) * v"]),
    ("drop_cache_hints", f"v = tl.load(x, mask=m, {HINT})", ["v = tl.load(x, mask=m)"]),
    ("drop_cache_hints", f"v = tl.load(x, {HINT}, mask=m)", ["v = tl.load(x, mask=m)"]),
    ("drop_cache_hints", 'tl.store(y, v, cache_modifier=".cg")', ["tl.store(y, v)"]),
    ("drop_alignment_hints", "p = tl.max_contiguous(tl.multiple_of(x + i, 16), 16)", ["p = ((x + i))"]),
    ("drop_alignment_hints", "tl.assume(n > 0)", ["pass"]),
    (
        "drop_pipelining",
        "for t in tl.range(0, n, num_stages=3):\n    v = t",
        ["for t in tl.range(0, n, num_stages=1):"],
    ),
    ("dots_in_tf32", 'd = tl.dot(a, b, input_precision="ieee")', ['d = tl.dot(a, b, input_precision="tf32")']),
    ("dots_in_tf32", "d = tl.dot(a, b, allow_tf32=False)", ['d = tl.dot(a, b, input_precision="tf32")']),
    ("dots_in_ieee", "d = tl.dot(a, b, input_precision=P)", ['d = tl.dot(a, b, input_precision="ieee")']),
]


@pytest.mark.parametrize(("name", "body", "lines"), TAKEN_OUT)
def test_what_is_taken_out(name: str, body: str, lines: list[str]) -> None:
    assert changed(name, text_of(body)) == lines


def test_masks_are_put_back() -> None:
    assert changed("mask_again", text_of(EVEN, "x, n, EVEN: tl.constexpr")) == ["if False:"]
    turned = EVEN.replace("if EVEN", "if not EVEN").replace("mask=m)", "mask=m & k)", 1).replace(" & (i < n)", "")
    assert changed("mask_again", text_of(turned, "x, n, EVEN: tl.constexpr")) == ["if True:"]


def test_groups_of_one() -> None:
    lines = changed("ungroup_grid", text_of(GROUPED, "pid, grid_m, grid_n, GROUP: tl.constexpr"))
    assert lines == ["width = 1 * grid_n", "first = group * 1", "size = min(grid_m - first, 1)"]


@pytest.mark.parametrize(
    ("options", "after"),
    [
        ('(do_not_specialize=["n"])', "@triton.jit()"),
        ('(noinline=False, do_not_specialize=["n"])', "@triton.jit(noinline=False)"),
        ('(do_not_specialize_on_alignment=["x"], debug=True)', "@triton.jit(debug=True)"),
    ],
)
def test_the_compiler_may_assume_again(options: str, after: str) -> None:
    assert changed("specialize_again", text_of("tl.store(y, n)", options=options)) == [after]


def test_block_pointers_become_pointers_and_masks() -> None:
    body = "p = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))\ntl.store(y, tl.load(p, boundary_check=(0,)))"
    lines = changed("pointers_and_masks", text_of(body))
    assert lines and not any("make_block_ptr" in line or "boundary_check" in line for line in lines)
    assert any("mask=" in line for line in lines)


PLAIN = "i = tl.arange(0, B)\ntl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)"


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_nothing_to_undo(name: str) -> None:
    with pytest.raises(Refuse) as refused:
        without(text_of(PLAIN), "case.py", "kernel", BY_NAME[name])
    refusal = refused.value.refusal
    assert (refusal.code, refusal.line) == ("pattern_not_found", 6)


REFUSED = [
    ("dots_in_tf32", 'd = tl.dot(a, b, input_precision="tf32")', "already_applied"),
    ("dots_in_ieee", "d = tl.dot(a, b, allow_tf32=False)", "already_applied"),
    ("drop_pipelining", "for t in tl.range(0, n, num_stages=1):\n    v = t", "already_applied"),
    ("drop_cache_hints", 'v = tl.load(x, m, 0.0, (), "", ".cg")', "unknown_construct"),
    ("drop_cache_hints", f"v = tl.load(\n    x,  # rows\n    {HINT},\n)", "unknown_construct"),
    ("drop_alignment_hints", "p = tl.multiple_of(input=x, values=16)", "unknown_construct"),
    ("rsqrt_to_division", "r = w.rsqrt()", "unknown_construct"),
    ("exp2_to_exp", "r = tl.exp2(x=w)", "unknown_construct"),
]


@pytest.mark.parametrize(("name", "body", "code"), REFUSED)
def test_what_cannot_be_taken_out(name: str, body: str, code: str) -> None:
    with pytest.raises(Refuse) as refused:
        changed(name, text_of(body))
    assert refused.value.refusal.code == code


def test_a_size_that_is_read_elsewhere_stays() -> None:
    for name, body, parameters in (
        ("ungroup_grid", GROUPED + "\ntl.store(pid, GROUP)", "pid, grid_m, grid_n, GROUP: tl.constexpr"),
        ("mask_again", EVEN + "\nb = x if EVEN else i", "x, n, EVEN: tl.constexpr"),
    ):
        with pytest.raises(Refuse) as refused:
            changed(name, text_of(body, parameters))
        assert refused.value.refusal.code == "unknown_construct"


@pytest.mark.parametrize(
    "body",
    [
        EVEN.replace("tl.load(x + i, mask=m)", "tl.load(x, mask=m)"),
        EVEN.replace("mask=m & (i < n)", "mask=k & (i < n)"),
        EVEN.replace("mask=m & (i < n), other=0.0", "mask=m"),
        EVEN.split("else")[0].rstrip(),
    ],
)
def test_arms_that_differ_in_more_than_masks(body: str) -> None:
    with pytest.raises(Refuse) as refused:
        changed("mask_again", text_of(body, "x, n, EVEN: tl.constexpr"))
    assert refused.value.refusal.code == "pattern_not_found"


def test_every_inverse_belongs_to_a_skeleton() -> None:
    names = {skeleton.name for skeleton in load_all()}
    assert {inverse.technique for inverse in INVERSES} <= names
    assert len(BY_NAME) == len(INVERSES) >= 8
    assert {"pattern_not_found", "already_applied", "unknown_construct"} <= set(CODES)
