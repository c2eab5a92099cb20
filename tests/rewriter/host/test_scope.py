"""Which definition of a name reaches a place."""

import ast
import textwrap

import pytest

from skel.rewriter.kernel.scope import bindings_in, enclosing_function, reaching, statement_of
from skel.rewriter.kernel.source import read_source


def lines_reaching(text: str, name: str = "a") -> list[tuple[int, str]]:
    """Lines and kinds of the bindings of `name` that reach the call `use(name)`."""
    source = read_source(textwrap.dedent(text).lstrip("\n"), "case.py")
    call = next(n for n in ast.walk(source.tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "use")
    return sorted((b.line, b.kind) for b in reaching(source, name, call.args[0]))


def test_last_assignment_wins() -> None:
    assert lines_reaching("""
        def f():
            a = 1
            a = 2
            use(a)
            a = 3
    """) == [(3, "assign")]


@pytest.mark.parametrize(
    ("otherwise", "expected"),
    [
        ("pass", [(2, "assign"), (4, "assign")]),
        ("a = 5", [(4, "assign"), (6, "assign")]),
        ("raise ValueError", [(4, "assign")]),
        ("return", [(4, "assign")]),
    ],
)
def test_branches(otherwise: str, expected: list[tuple[int, str]]) -> None:
    assert (
        lines_reaching(f"""
        def f(c):
            a = 1
            if c:
                a = 2
            else:
                {otherwise}
            use(a)
    """)
        == expected
    )


def test_loop_sees_its_own_end() -> None:
    assert lines_reaching("""
        def f(n):
            a = 1
            for i in range(n):
                use(a)
                a = 2
    """) == [(2, "assign"), (5, "assign")]


def test_loop_variable_and_comprehension() -> None:
    assert lines_reaching("""
        def f(n):
            a = 1
            for a in range(n):
                use(a)
    """) == [(3, "loop")]
    assert lines_reaching("""
        def f(n):
            a = 1
            return [use(a) for a in n]
    """) == [(3, "loop")]


def test_parameter_default_and_shadowing() -> None:
    assert lines_reaching("""
        a = 0
        def f(a=1):
            use(a)
    """) == [(2, "parameter")]
    assert lines_reaching("""
        a = 0
        def f():
            use(a)
            def g():
                a = 1
    """) == [(1, "assign")]


def test_tuple_elements_and_unpacking() -> None:
    source = read_source("def f(t):\n    (b, a), c = (1, 2), 3\n    b, a = t\n", "case.py")
    body = source.tree.body[0].body  # type: ignore[attr-defined]
    first, second = bindings_in(body, "a")
    assert first.kind == "assign" and isinstance(first.value, ast.Constant) and first.value.value == 2
    assert second.kind == "unpack" and ast.unparse(second.value) == "t"  # type: ignore[arg-type]


def test_closure_sees_all_or_what_reached_its_call() -> None:
    text = "def f():\n    a = 1\n    g = lambda m: a\n    use(g)\n    a = 2\n"
    source = read_source(text, "case.py")
    use = next(n for n in ast.walk(source.tree) if isinstance(n, ast.Call))
    inner = next(n for n in ast.walk(source.tree) if isinstance(n, ast.Lambda)).body
    assert [b.line for b in reaching(source, "a", inner)] == [2, 5]
    assert [b.line for b in reaching(source, "a", inner, use)] == [2]


def test_what_cannot_be_followed_is_marked() -> None:
    assert lines_reaching("def f():\n    global a\n    a = 1\n    use(a)\n") == [(1, "other")]
    assert lines_reaching("def f(**a):\n    use(a)\n") == [(1, "other")]
    assert (2, "other") in lines_reaching("def f(t):\n    if (a := t):\n        use(a)\n")
    assert lines_reaching("def f():\n    a = 1\n    a += 1\n    use(a)\n") == [(3, "augmented")]
    assert lines_reaching("def f():\n    use(a)\n") == []


def test_handlers_see_the_body_and_try_may_not_bind() -> None:
    assert lines_reaching("""
        def f():
            a = 0
            try:
                a = 1
            except ValueError:
                use(a)
    """) == [(2, "assign"), (4, "assign")]
    assert lines_reaching("""
        def f():
            a = 0
            try:
                a = 1
            except ValueError:
                pass
            use(a)
    """) == [(2, "assign"), (4, "assign")]


def test_methods_skip_the_class_body() -> None:
    text = "a = 1\nclass C:\n    a = 2\n    def f(self):\n        use(a)\n"
    assert lines_reaching(text) == [(1, "assign")]
    source = read_source(text, "case.py")
    call = next(n for n in ast.walk(source.tree) if isinstance(n, ast.Call))
    function = enclosing_function(source, call)
    assert function is not None and function.name == "f"
    assert statement_of(source, call) is function.body[0]
