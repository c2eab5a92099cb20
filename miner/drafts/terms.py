"""Statements as terms: trees of labels that can be compared, generalised and rebuilt.

A term is `(label, child, ...)`; a leaf is a string. A hole is `("?", "0")`: the same term wherever it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

Term = tuple["Term | str", ...] | str
HOLE = "?"
ITEMS = "[]"
"""The label of a plain list of children; `List` is the language's own list."""
HEADS = frozenset({"Decorator", "Parameter", "IfHead", "WhileHead", "ForHead"})
"""Labels of statements that are no syntax trees of their own."""
_HEAD = re.compile(r"^(if|while) (.*):$", re.DOTALL)
_FOR = re.compile(r"^for (.*?) in (.*):$", re.DOTALL)


@lru_cache(maxsize=200_000)
def parse(text: str) -> Term | None:
    """The term of one canonical statement, head, decorator or parameter; None where it is none of them."""
    try:
        if text.startswith("@"):
            return ("Decorator", term_of(ast.parse(text[1:], mode="eval").body))
        if text.startswith("param "):
            function = ast.parse(f"def f({text[6:]}): pass").body[0]
            assert isinstance(function, ast.FunctionDef)
            return ("Parameter", term_of(function.args))
        if (head := _HEAD.match(text)) is not None:
            return (head[1].capitalize() + "Head", term_of(ast.parse(head[2], mode="eval").body))
        if (loop := _FOR.match(text)) is not None:
            target, iterated = (ast.parse(loop[i], mode="eval").body for i in (1, 2))
            return ("ForHead", term_of(target), term_of(iterated))
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return None
    return term_of(body[0]) if len(body) == 1 else None


def term_of(node: ast.AST) -> Term:
    """The term of a syntax tree; contexts of names and type comments are left out."""
    children: list[Term] = []
    for name, value in ast.iter_fields(node):
        if name in ("ctx", "type_comment", "kind", "type_params", "type_ignores"):
            continue
        children.append(_field(value))
    return (type(node).__name__, *children)


def _field(value: object) -> Term:
    if isinstance(value, ast.AST):
        return term_of(value)
    if isinstance(value, list):
        return (ITEMS, *(_field(v) for v in value))
    if value is ...:
        return ("Value", "...")
    return ("Value", repr(value).replace("inf", "1e309") if isinstance(value, float | complex) else repr(value))


def show(term: Term) -> str:
    """A term as source text; holes read `H0`, `H1`, ..."""
    if isinstance(term, str):
        return term
    match term:
        case ("Decorator", inner):
            return f"@{show(inner)}"
        case ("Parameter", inner):
            return f"param {show(inner)}"
        case ("IfHead" | "WhileHead" as kind, inner):
            return f"{str(kind)[:-4].lower()} {show(inner)}:"
        case ("ForHead", target, iterated):
            return f"for {show(target)} in {show(iterated)}:"
    node = tree_of(term)
    return ast.unparse(node) if isinstance(node, ast.AST) else str(node)


def tree_of(term: Term) -> object:
    """The syntax tree of a term; a hole becomes a name."""
    assert not isinstance(term, str)
    label, *children = term
    if label == HOLE:
        return ast.Name(f"H{children[0]}", ast.Load())
    if label == ITEMS:
        return [tree_of(c) for c in children]
    if label == "Value":
        assert isinstance(children[0], str)
        return ast.literal_eval(children[0])
    assert isinstance(label, str)
    kind = getattr(ast, label)
    fields = [f for f in kind._fields if f not in ("ctx", "type_comment", "kind", "type_params", "type_ignores")]
    values = {f: tree_of(c) for f, c in zip(fields, children, strict=True)}
    if "ctx" in kind._fields:
        values["ctx"] = ast.Load()
    for name, value in values.items():
        # a hole may stand where a name's bare text is expected, as an attribute or the word of a keyword
        if isinstance(value, ast.Name) and (label, name) in (("Attribute", "attr"), ("keyword", "arg"), ("Name", "id")):
            values[name] = value.id
    node = kind(**values)
    if isinstance(node, ast.stmt):
        node.lineno = 0
    return node


def size(term: Term) -> int:
    """The number of nodes; a hole counts nothing."""
    if isinstance(term, str):
        return 0
    if term[0] == HOLE:
        return 0
    return 1 + sum(size(c) for c in term[1:])


def holes(term: Term) -> set[str]:
    """The holes of a term by number."""
    if isinstance(term, str):
        return set()
    if term[0] == HOLE:
        assert isinstance(term[1], str)
        return {term[1]}
    return set().union(*(holes(c) for c in term[1:]))


def subterms(term: Term) -> Iterator[Term]:
    """The term and everything inside it."""
    yield term
    if not isinstance(term, str):
        for child in term[1:]:
            yield from subterms(child)
