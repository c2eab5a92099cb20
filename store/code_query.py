"""Code as a query: what a snippet does, said as a user would say it.

The snippet may be part of a kernel, hold `...`, or be pseudo-code in places: each statement that parses is looked at,
the rest is left to the words in it. Nothing is imported or run. What stands here is only what can be told from a few
lines; a whole kernel is scanned by the rewriter's detectors besides.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from .code_features import FEATURES

_MAY_BE_CODE = re.compile(r"[=(\[:]")
"""A character that every statement which counts as code has in it."""
_OPENS_BLOCK = re.compile(r"^\s*(?:for|if|while|with|def|else|elif|class|@).*:\s*(?:#.*)?$")
_PIECE = re.compile(r"for \w+ in [\w.]*range\([^()]*\)|\w+(?:\.\w+)+\([^()]*\)")
_PROSE = re.compile(r"(?<![\w.])(?:[a-z]{3,}) (?:[a-z]{2,}) (?:[a-z]{2,})(?![\w(.=])")


@dataclass(frozen=True, slots=True)
class Snippet:
    """What a text is as code."""

    is_code: bool
    has_prose: bool = True
    """Whether sentences stand beside the code."""
    symptoms: tuple[tuple[str, float, str], ...] = ()


def read_code(text: str) -> Snippet:
    """Look at a text as code."""
    if not _MAY_BE_CODE.search(text):
        return Snippet(False)
    statements = list(_statements(text))
    if not any(_is_code(node) for statement in statements for node in ast.walk(statement)):
        return Snippet(False)
    module = ast.Module(body=statements, type_ignores=[])
    symptoms = tuple((feature.symptom, feature.weight, feature.because)
                     for feature in FEATURES if feature.seen(module))
    return Snippet(True, _PROSE.search(text) is not None, symptoms)


def _statements(text: str) -> Iterator[ast.stmt]:
    """The statements of the whole text where it parses, else of each line and each part between semicolons."""
    whole = _parsed(textwrap.dedent(text))
    if whole is not None:
        yield from whole
        return
    for line in text.splitlines():
        rest: list[ast.stmt] | None = _parsed(line.strip())
        if rest is not None:
            yield from rest
            continue
        loop: ast.For | None = None
        for part in re.split(r";|\s\.\.\.\s", line):
            for statement in _parsed(part.strip()) or _block(part) or _pieces(part):
                if isinstance(statement, ast.For) and loop is None:
                    loop = statement
                    yield loop
                elif loop is not None:
                    loop.body.append(statement)
                else:
                    yield statement


def _block(part: str) -> list[ast.stmt]:
    """A block's head without its body, or its head with a body that does not parse."""
    part = part.strip()
    if part.startswith("@"):
        return _parsed(f"{part}\ndef kernel(): pass") or []
    if _OPENS_BLOCK.match(part):
        return _parsed(f"{part} pass") or []
    head, colon, rest = part.partition(": ")
    if colon and (found := _parsed(rest)) is not None:
        return (_parsed(f"{head}: pass") or []) + found
    return []


def _pieces(part: str) -> list[ast.stmt]:
    """Loop heads and calls that stand in a sentence."""
    return [statement for piece in _PIECE.findall(part)
            for statement in _parsed(f"{piece}: pass" if piece.startswith("for ") else piece) or ()]


def _parsed(text: str) -> list[ast.stmt] | None:
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_code(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute | ast.Subscript) or bool(node.keywords)
    return isinstance(node, ast.Assign | ast.AugAssign | ast.FunctionDef | ast.For) or (
        isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple | ast.Slice))
