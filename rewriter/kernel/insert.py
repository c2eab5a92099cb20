"""Inserting arguments, parameters and lines in the style that stands there."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass

from .edits import Edit
from .source import SourceFile

_BLANK = frozenset(
    {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


@dataclass(frozen=True)
class _Token:
    kind: int
    text: str
    start: int
    end: int


def insert_arguments(source: SourceFile, call: ast.Call, texts: list[str]) -> list[Edit]:
    """Add arguments at the end of a call, before a `**splat`. `texts` are whole arguments: `"NAME=value"`."""
    opening = source.span(call.func)[1]
    return _insert(source, opening, source.span(call)[1], texts, ("**",))


def insert_parameters(source: SourceFile, function: ast.FunctionDef, texts: list[str]) -> list[Edit]:
    """Add parameters at the end of a signature, before `*`, `*args` and `**kwargs`."""
    start = source.offset(function.lineno, function.col_offset)
    opening = source.text.index("(", source.text.index(function.name, source.text.index("def", start) + 3))
    return _insert(source, opening, source.span(function.body[0])[0], texts, ("*", "**"))


def insert_lines(source: SourceFile, after: ast.stmt | None, before: ast.stmt | None, lines: list[str]) -> Edit | None:
    """Whole lines after a statement, or before one, at its indentation; None where it shares its line with others."""
    statement = after if after is not None else before
    assert statement is not None
    indent = source.indent(statement)
    start, end = source.span(statement)
    first = statement.lineno
    decorators = getattr(statement, "decorator_list", [])
    if decorators:
        first = min(d.lineno for d in decorators)
    if not decorators and source.text[source.line_start(statement.lineno) : start].strip():
        return None
    text = "".join(f"{indent}{line}{source.newline}" for line in lines)
    if after is None:
        return Edit(source.line_start(first), source.line_start(first), text)
    assert statement.end_lineno is not None
    following = source.line_start(statement.end_lineno + 1)
    rest = source.text[end:following].strip()
    if rest and not rest.startswith("#"):
        return None
    if following and source.text[following - 1] not in "\r\n":
        text = source.newline + text.removesuffix(source.newline)
    return Edit(following, following, text)


def _insert(source: SourceFile, opening: int, limit: int, texts: list[str], stop: tuple[str, ...]) -> list[Edit]:
    tokens = _tokens(source.text, opening, limit)
    groups = _groups(tokens)
    closing = tokens[-1]
    tail = next((i for i, g in enumerate(groups) if g[0].text in stop), None)
    if tail is not None:
        at = groups[tail][0].start
        line = _line_start(source.text, at)
        if source.text[line:at].strip():
            return [Edit(at, at, "".join(f"{t}, " for t in texts))]
        gap = source.newline + source.text[line:at]
        return [Edit(at, at, "".join(f"{t},{gap}" for t in texts))]
    if not groups:
        return [Edit(closing.start, closing.start, ", ".join(texts))]
    last = groups[-1]
    comma = next((t for t in tokens if t.start >= last[-1].end and t.text == ","), None)
    end = comma.end if comma is not None else last[-1].end
    line = _line_start(source.text, last[0].start)
    alone = not source.text[line : last[0].start].strip()
    if not alone or "\n" not in source.text[end : closing.start]:
        # The last argument shares its line with the one before or with the parenthesis: stay on that line.
        gap = (
            source.newline + source.text[line : last[0].start]
            if alone and len(groups) > 1 and _one_a_line(source, groups)
            else " "
        )
        text = gap + f",{gap}".join(texts)
        return [Edit(end, end, text + "," if comma is not None else "," + text)]
    gap = source.newline + source.text[line : last[0].start]
    comment = next(
        (t for t in tokens if t.kind == tokenize.COMMENT and t.start >= end and "\n" not in source.text[end : t.start]),
        None,
    )
    text = "".join(f"{gap}{t}," for t in texts)
    if comma is None:
        text = text.removesuffix(",")
    if comment is None:
        return [Edit(end, end, text if comma is not None else "," + text)]
    edits = [Edit(comment.end, comment.end, text)]
    return edits if comma is not None else [Edit(end, end, ","), *edits]


def _one_a_line(source: SourceFile, groups: list[list[_Token]]) -> bool:
    return all(not source.text[_line_start(source.text, g[0].start) : g[0].start].strip() for g in groups)


def _groups(tokens: list[_Token]) -> list[list[_Token]]:
    """Tokens of each argument between the outer parentheses, comments and line ends left out."""
    groups: list[list[_Token]] = [[]]
    depth = 0
    for token in tokens[:-1]:
        if token.kind == tokenize.OP and token.text in "([{":
            depth += 1
            if depth == 1:
                continue
        elif token.kind == tokenize.OP and token.text in ")]}":
            depth -= 1
        if token.kind in _BLANK:
            continue
        if token.text == "," and depth == 1:
            groups.append([])
        else:
            groups[-1].append(token)
    return [g for g in groups if g]


def _tokens(text: str, opening: int, limit: int) -> list[_Token]:
    """Tokens from the opening parenthesis to the one that closes it, with offsets in `text`."""
    segment = text[opening:limit]
    shift = len(segment) - len(segment.lstrip())
    segment, opening = segment[shift:], opening + shift
    starts = [0]
    for line in io.StringIO(segment, newline=""):
        starts.append(starts[-1] + len(line))
    found: list[_Token] = []
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(segment, newline="").readline):
        start = opening + starts[token.start[0] - 1] + token.start[1]
        end = opening + starts[token.end[0] - 1] + token.end[1]
        found.append(
            _Token(token.type, token.string if token.type not in (tokenize.NL, tokenize.NEWLINE) else "", start, end)
        )
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
            if depth == 0:
                break
    return found


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
