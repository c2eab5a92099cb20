"""A block's statements as runs of whole lines, so that they can be moved and indented without touching their text."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass

from ..reasons import refuse
from .edits import Edit, apply_edits
from .source import SourceFile


@dataclass(frozen=True)
class Segment:
    """One statement with the comments and blank lines above it. Lines are 1-based, `last` inclusive."""

    statement: ast.stmt
    first: int
    last: int


def segments(source: SourceFile, body: list[ast.stmt]) -> list[Segment]:
    """The statements of a block in order. Raises Refuse(unknown_construct) where two share a line."""
    found: list[Segment] = []
    previous = body[0].lineno - 1
    for statement in body:
        assert statement.end_lineno is not None
        line = source.lines[statement.lineno - 1]
        if statement.lineno <= previous or line[: statement.col_offset].strip():
            raise refuse("unknown_construct", statement, construct="several statements on one line")
        found.append(Segment(statement, previous + 1, statement.end_lineno))
        previous = statement.end_lineno
    return found


def segment_lines(source: SourceFile, segment: Segment) -> list[str]:
    """The segment's lines, with their ends."""
    return source.lines[segment.first - 1 : segment.last]


def indented(source: SourceFile, segment: Segment, unit: str) -> list[str]:
    """The segment's lines one level deeper; blank lines and the insides of strings stay as they are."""
    inside = _string_lines(source)
    return [
        line if not line.strip() or number in inside else unit + line
        for number, line in enumerate(segment_lines(source, segment), segment.first)
    ]


def segment_text(source: SourceFile, segment: Segment, edits: list[Edit], unit: str) -> str:
    """A segment's text with those of the edits made that lie in it, indented by `unit`. Edits stay within a line."""
    start, end = source.line_start(segment.first), source.line_start(segment.last + 1)
    lines = indented(source, segment, unit) if unit else segment_lines(source, segment)
    inside = [e for e in edits if start <= e.start and e.end <= end]
    if inside:
        # Edits add no lines: make them before the lines are indented.
        plain = apply_edits(
            source.text[start:end], [Edit(e.start - start, e.end - start, e.replacement) for e in inside]
        )
        raw = segment_lines(source, segment)
        changed = plain.splitlines(keepends=True)
        lines = (
            [
                unit + new if old != line and new.strip() else new
                for old, line, new in zip(raw, lines, changed, strict=True)
            ]
            if unit
            else changed
        )
    text = "".join(lines)
    return text if text.endswith(("\n", "\r")) or not text else text + source.newline


def indent_unit(source: SourceFile, outer: ast.stmt, inner: ast.stmt) -> str:
    """What one level of indentation is in this file: the white space that `inner` has beyond `outer`."""
    deeper, base = source.indent(inner), source.indent(outer)
    return deeper.removeprefix(base) if deeper.startswith(base) and deeper != base else "    "


def _string_lines(source: SourceFile) -> frozenset[int]:
    """Lines that begin inside a string of several lines."""
    found: set[int] = set()
    start = None
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        name = tokenize.tok_name[token.type]
        if token.type == tokenize.STRING:
            found.update(range(token.start[0] + 1, token.end[0] + 1))
        elif name == "FSTRING_START":
            start = token.start[0]
        elif name == "FSTRING_END" and start is not None:
            found.update(range(start + 1, token.end[0] + 1))
    return frozenset(found)
