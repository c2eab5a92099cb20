"""A source file: its text, its syntax tree and exact positions between the two.

`ast` counts columns in UTF-8 bytes, Python strings in characters; `SourceFile.span` converts once, here.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..reasons import refuse

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


@dataclass(frozen=True, eq=False)
class SourceFile:
    """Text and tree of one Python file. Build it with `read_source`."""

    path: str
    text: str
    tree: ast.Module

    @cached_property
    def lines(self) -> list[str]:
        """Lines with their ends, as the tree's line numbers count them."""
        return split_lines(self.text)

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line))
        return starts

    @cached_property
    def reached(self) -> dict[tuple[str, ast.AST, ast.AST | None], Any]:
        """What `scope.reaching` has found: the same names are asked for again and again."""
        return {}

    def offset(self, line: int, column_bytes: int) -> int:
        """Character offset of a 1-based line and a column in UTF-8 bytes."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if text.isascii():
            return self._starts[line - 1] + column_bytes
        return self._starts[line - 1] + len(text.encode()[:column_bytes].decode())

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Character offsets `(start, end)` of an expression or statement (decorators not counted)."""
        assert isinstance(node, (ast.expr, ast.stmt, ast.arg, ast.keyword, ast.alias, ast.excepthandler))
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def segment(self, node: ast.AST) -> str:
        """Source text of a node, without enclosing parentheses."""
        start, end = self.span(node)
        return self.text[start:end]

    def line_start(self, line: int) -> int:
        """Character offset of the start of a 1-based line; one past the last line is the end of the text."""
        return self._starts[line - 1]

    def indent(self, node: ast.stmt) -> str:
        """White space before a statement that starts its line; of the line it stands in otherwise."""
        line = self.lines[node.lineno - 1]
        return line[: len(line) - len(line.lstrip(" \t\f"))]

    @cached_property
    def newline(self) -> str:
        """The file's line end: `\\r\\n` where its first line has it, else `\\n`."""
        return "\r\n" if self.lines and self.lines[0].endswith("\r\n") else "\n"

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Parent of every node of the tree, in the order of `ast.walk`."""
        found: dict[ast.AST, ast.AST] = {}
        pending: list[ast.AST] = [self.tree]
        for node in pending:
            children = list(ast.iter_child_nodes(node))
            found.update(dict.fromkeys(children, node))
            pending += children
        return found


def read_source(text: str, path: str) -> SourceFile:
    """Parse `text`. Raises Refuse(`unparsable`) with the line where it is no Python."""
    try:
        tree = ast.parse(text, filename=path)
    except SyntaxError as error:
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise refuse("unparsable", error.lineno or 1, file=path, error=error.msg, python=python) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise refuse("unparsable", 1, file=path, error=str(error) or type(error).__name__, python="3") from None
    return SourceFile(path, text, tree)


def split_lines(text: str) -> list[str]:
    """Split as Python's tokenizer does: at \\n, \\r\\n and \\r only (str.splitlines also splits at form feeds)."""
    return _LINE.findall(text)
