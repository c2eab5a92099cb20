"""Terms, their generalisation with correlated holes, the smallest changed parts, and applying a template."""

from __future__ import annotations

import ast

import pytest

from skel.miner.drafts.antiunify import generalise
from skel.miner.drafts.apply import rewrite
from skel.miner.drafts.constraints import Constraint, join, origins_of
from skel.miner.drafts.equivalence import equivalent
from skel.miner.drafts.reduce import reductions
from skel.miner.drafts.terms import Term, parse, show


def term(text: str) -> Term:
    found = parse(text)
    assert found is not None
    return found


def expression(text: str) -> Term:
    found = term(text)
    assert not isinstance(found, str) and found[0] == "Expr"
    return found[1]


@pytest.mark.parametrize(
    "text",
    [
        "b_x = tl.load(x + o[:, None] * s, mask=m & (o < N), other=float('-inf'))",
        "if i_v == 0:",
        "while n > 0:",
        "for i in tl.range(0, T, num_stages=2):",
        "@triton.jit(do_not_specialize=['T'])",
        "param T: tl.constexpr=1",
        "x += 1e309",
        "return (a, *b)",
        "y = [f for f in (1, 2) if f]",
    ],
)
def test_statements_survive_as_terms(text: str) -> None:
    assert show(term(text)) == text


def test_what_is_no_statement_is_no_term() -> None:
    assert parse("else:") is None and parse("def f(") is None


def test_holes_correlate_before_and_after() -> None:
    one = expression("tl.exp(b_g - b_m)"), expression("tl.exp2((b_g - b_m) * LOG2E)")
    other = expression("tl.exp(b_s)"), expression("tl.exp2(b_s * LOG2E)")
    found = generalise(one, other)
    assert found is not None
    assert [show(t) for t in found] == ["tl.exp(H0)", "tl.exp2(H0 * LOG2E)"]


def test_different_terms_get_different_holes() -> None:
    found = generalise(
        (expression("tl.dot(a, b)"), expression("tl.dot(b, a)")),
        (expression("tl.dot(c, d)"), expression("tl.dot(d, c)")),
    )
    assert found is not None and [show(t) for t in found] == ["tl.dot(H0, H1)", "tl.dot(H1, H0)"]


def test_no_template_calls_just_anything() -> None:
    found = generalise(
        (expression("tl.load(p)"), expression("f(tl.load(p))")), (expression("tl.sum(q)"), expression("f(tl.sum(q))"))
    )
    assert found is None


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("x = tl.exp(a) + b", "x = tl.exp2(a) + b", [("tl.exp(a)", "tl.exp2(a)")]),
        ("BV = min(triton.next_power_of_2(V), 8)", "BV = min(triton.next_power_of_2(V), 32)",
         [("min(triton.next_power_of_2(V), 8)", "min(triton.next_power_of_2(V), 32)")]),
        ("i, j = (tl.program_id(0), tl.program_id(1))", "i, j = (tl.program_id(0).to(tl.int64), tl.program_id(1))",
         [("tl.program_id(0)", "tl.program_id(0).to(tl.int64)")]),
        ("y = tl.exp(a) * tl.exp(b)", "y = tl.exp2(a) * tl.exp2(b)",
         [("tl.exp(a)", "tl.exp2(a)"), ("tl.exp(b)", "tl.exp2(b)")]),
        ("x = a", "x = a", []),
        ("@triton.jit", "@triton.jit(do_not_specialize=['T'])",
         [("@triton.jit", "@triton.jit(do_not_specialize=['T'])")]),
    ],
)  # fmt: skip
def test_the_smallest_changed_parts(before: str, after: str, parts: list[tuple[str, str]]) -> None:
    assert [(show(b), show(a)) for b, a in reductions(term(before), term(after))] == parts


FUNCTION = """def k(x, n, BT: tl.constexpr):
    i = tl.program_id(0)
    half = tl.program_id(0) / 2
    bos = tl.load(x + i)
    o = i * BT + tl.arange(0, BT)
    for j in range(n):
        y = o + j
"""


def test_origins_of_names() -> None:
    node = ast.parse(FUNCTION).body[0]
    assert isinstance(node, ast.FunctionDef)
    found = origins_of(node)
    assert found == {
        "x": "parameter", "n": "parameter", "BT": "constexpr", "i": "program_id", "half": "computed", "bos": "load",
        "o": "arange", "j": "loop", "y": "computed",
    }  # fmt: skip


def test_constraints_are_the_join_of_what_was_seen() -> None:
    axis = join([(expression("0"), {}), (expression("1"), {})])
    assert axis == Constraint(kinds=("Constant",), values=("0", "1"))
    assert axis.holds(expression("1"), {}) and not axis.holds(expression("2"), {})
    index = join([(expression("i"), {"i": "program_id"})])
    assert index.holds(expression("k"), {"k": "program_id"})
    assert not index.holds(expression("k"), {"k": "load"}) and not index.holds(expression("k + 1"), {"k": "program_id"})


def test_rewriting_replaces_every_instance_within_its_constraints() -> None:
    before, after = expression("tl.exp(a)"), expression("tl.exp2(a)")
    template = generalise((before, after), (expression("tl.exp(b + c)"), expression("tl.exp2(b + c)")))
    assert template is not None
    only_names = {"0": Constraint(kinds=("Name",), origins=("computed",))}
    new, count = rewrite(*template, term("y = tl.exp(p) + tl.exp(q * r)"), only_names, {"p": "computed", "q": "load"})
    assert (show(new), count) == ("y = tl.exp2(p) + tl.exp(q * r)", 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("i = tl.program_id(0)", "i = tl.program_id(0).to(tl.int64)"),
        ("x = tl.load(p).to(tl.int32)", "x = tl.load(p).to(tl.int64)"),
        ("o = i * B", "o = i.to(tl.int64) * B"),
        ("x = tl.load(p, mask=m)", "x = tl.load(p, eviction_policy='evict_first', mask=m)"),
        ("o = tl.max_contiguous(tl.multiple_of(a + b, 8), 8)", "o = a + b"),
        ("y = x / tl.sqrt(v)", "y = x * tl.rsqrt(v)"),
        ("y = tl.exp(x)", "y = tl.exp2(x * 1.4426950408889634)"),
        ("n = triton.cdiv(a, b)", "n = (a + b - 1) // b"),
        ("@triton.jit", "@triton.jit(do_not_specialize=['T'])"),
        ("for i in range(n):", "for i in tl.range(n, num_stages=3):"),
        ("acc += tl.dot(a, b)", "acc = tl.dot(a, b, acc=acc)"),
    ],
)
def test_what_means_the_same(before: str, after: str) -> None:
    assert equivalent(before, after, frozenset({"i"}))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = tl.exp(x)", "y = tl.exp2(x)"),
        ("x = tl.load(p)", "x = tl.load(p).to(tl.int64)"),
        ("x = f.to(tl.int32)", "x = f"),
        ("x = y / z", "x = (y / z).to(tl.int64)"),
        ("i = tl.program_id(0).to(tl.int64)", "i = tl.program_id(0)"),
        ("x = tl.load(p).to(tl.int64)", "x = tl.load(p).to(tl.int32)"),
        ("x = tl.load(p, mask=m)", "x = tl.load(p)"),
        ("acc = tl.dot(a, b, acc=c)", "acc += tl.dot(a, b)"),
        ("y = tl.exp2(x * 1.5)", "y = tl.exp(x)"),
        ("BV = min(V, 8)", "BV = min(V, 32)"),
        ("x = a - b", "x = b - a"),
    ],
)
def test_what_does_not_mean_the_same(before: str, after: str) -> None:
    assert not equivalent(before, after, frozenset({"i"}))
