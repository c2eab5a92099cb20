"""Places in the source that the syntax tree does not name: where an operator stands, what brackets an expression."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from .edits import Edit
from .source import SourceFile

_SKIPPED = re.compile(r"(?:\s|\\\r?\n|#[^\r\n]*)*")
_KEYWORDS = frozenset({"return", "and", "or", "not", "in", "is", "if", "else", "yield", "lambda"})


def operator_span(source: SourceFile, node: ast.BinOp | ast.AugAssign, operator: str) -> tuple[int, int]:
    """Where the operator of a binary expression or an augmented assignment (`/=`) stands.

    Raises ValueError where it is not found, which is a fault of ours.
    """
    left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
    at, end = source.span(left)[1], source.span(right)[0]
    while at < end:
        skipped = _SKIPPED.match(source.text, at, end)
        assert skipped is not None
        at = skipped.end()
        if source.text.startswith(operator, at):
            return at, at + len(operator)
        if source.text[at] not in ")(":
            break
        at += 1
    raise ValueError(f"no {operator} between the operands")


def is_atom(node: ast.expr) -> bool:
    """True where an expression can be a factor of a product as it stands, without brackets."""
    return isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.Tuple, ast.List))


def bracketed_span(source: SourceFile, node: ast.expr) -> tuple[int, int]:
    """Span of an expression with the parentheses that enclose it alone."""
    text = source.text
    start, end = source.span(node)
    while True:
        before, after = start - 1, end
        while before >= 0 and text[before] in " \t":
            before -= 1
        while after < len(text) and text[after] in " \t":
            after += 1
        alone = before >= 0 and after < len(text) and text[before] == "(" and text[after] == ")"
        # In `f(x)` the brackets are the call's: what stands before them decides.
        if not alone or _calls(text, before):
            return start, end
        start, end = before, after + 1


def _calls(text: str, bracket: int) -> bool:
    head = text[:bracket].rstrip(" \t")
    word = re.search(r"\w+\Z", head)
    return word.group() not in _KEYWORDS if word else head.endswith((")", "]"))


@dataclass(frozen=True, slots=True)
class Wrap:
    """Text to put before and after the span of an expression."""

    start: int
    end: int
    before: str
    after: str


def wrap_edits(wraps: Iterable[Wrap], others: Iterable[Edit] = ()) -> list[Edit]:
    """Edits for wraps that may nest and share an end: what belongs to the inner expression stays inside.

    `others` replace spans; one that starts where a wrap does keeps its place behind the wrap's text.
    """
    opening: dict[int, list[Wrap]] = {}
    closing: dict[int, list[Wrap]] = {}
    for wrap in dict.fromkeys(wraps):
        if wrap.before:
            opening.setdefault(wrap.start, []).append(wrap)
        if wrap.after:
            closing.setdefault(wrap.end, []).append(wrap)
    inserted = {at: "".join(w.before for w in sorted(group, key=lambda w: -w.end)) for at, group in opening.items()}
    for at, group in closing.items():
        text = "".join(w.after for w in sorted(group, key=lambda w: -w.start))
        inserted[at] = text + inserted.get(at, "")
    edits = []
    for edit in dict.fromkeys(others):
        before = inserted.pop(edit.start, "")
        edits.append(Edit(edit.start, edit.end, before + edit.replacement) if before else edit)
    return sorted([*edits, *(Edit(at, at, text) for at, text in inserted.items())])
