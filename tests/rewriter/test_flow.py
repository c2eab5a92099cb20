"""Def-use chains: one definition behind every use, through branches, loops and early exits."""

import ast
import textwrap

import pytest

from skel.rewriter.analysis.flow import Definition, Flow, flow_of


def flow(body: str) -> Flow:
    function = ast.parse("def f(a, b, n):\n" + textwrap.indent(textwrap.dedent(body), "    ")).body[0]
    assert isinstance(function, ast.FunctionDef)
    return flow_of(function)


def behind_return(body: str) -> Definition:
    """The definition behind the name that the last return gives back."""
    found = flow(body)
    value = found.returns[-1].value
    assert isinstance(value, ast.Name)
    return found.reaching[value]


@pytest.mark.parametrize(
    ("body", "kind", "sources"),
    [
        ("return a", "parameter", []),
        ("x = a\nx = b\nreturn x", "assign", []),
        ("x, y = a, b\nreturn y", "assign", []),
        ("x, y = g(a)\nreturn y", "unpack", []),
        ("a += b\nreturn a", "augmented", ["parameter"]),
        ("if n:\n    a = b\nreturn a", "join", ["assign", "parameter"]),
        ("if n:\n    x = a\nelse:\n    x = b\nreturn x", "join", ["assign", "assign"]),
        ("if n:\n    x = a\nelse:\n    return b\nreturn x", "assign", []),  # the other arm never comes here
        ("for i in range(n):\n    a = a + b\nreturn a", "carry", ["parameter", "assign"]),
        ("for i in range(n):\n    a += b\nreturn a", "carry", ["parameter", "augmented"]),
        ("while n:\n    x = a\nreturn x", "assign", []),
        ("for i in range(n):\n    pass\nreturn i", "loop", []),
        ("for a in range(n):\n    pass\nreturn a", "join", ["parameter", "loop"]),
        ("for i in range(n):\n    if i:\n        a = b\nreturn a", "carry", ["parameter", "join"]),
    ],
)
def test_what_reaches_a_use(body: str, kind: str, sources: list[str]) -> None:
    made = behind_return(body)
    assert (made.kind, [s.kind for s in made.sources]) == (kind, sources)


def test_uses_and_feeds_are_the_way_back() -> None:
    found = flow("x = a\nfor i in range(n):\n    y = x + b\n    x = y * x\nreturn x")
    first = next(d for d in found.definitions if d.name == "x" and d.kind == "assign" and not d.loops)
    carried = next(d for d in found.definitions if d.kind == "carry")
    assert first.uses == [] and first.feeds == [carried]
    assert [u.lineno for u in carried.uses] == [4, 5, 6] and [len(u.loops) for u in carried.sources] == [0, 1]


@pytest.mark.parametrize("line", ["[x for x in a]", "for i in a:\n    break", "with a:\n    x = b", "f = lambda: a"])
def test_what_is_not_followed_is_said(line: str) -> None:
    assert flow(line).opaque


def test_names_of_the_module_have_no_definition() -> None:
    found = flow("return g")
    assert found.reaching == {}
