"""Text of others inside Markdown: it is shown as it stands, and neither marks up nor links anything."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

_MARKS = re.compile(r"([\\`*\[\]|#~])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def line(text: str) -> str:
    """One line of escaped text; control characters, which terminals would obey, are left out."""
    joined = one_line(text)
    return _MARKS.sub(r"\\\1", re.sub(r"[&<>]", lambda found: _ENTITIES[found.group()], joined))


def code(text: str) -> str:
    """Text as code; escaped text where it holds what ends code or a cell."""
    joined = one_line(text)
    return line(text) if not joined or "`" in joined or "|" in joined else f"`{joined}`"


def one_line(text: str) -> str:
    """Without line ends and what cannot be printed."""
    return " ".join(printable(text).split())


def fenced(lines: Iterable[str], language: str) -> Iterator[str]:
    """A code block that nothing in it can end."""
    listed = [printable(one) for one in lines]
    longest = max((len(run) for one in listed for run in re.findall("`+", one)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (fence + language, *listed, fence)


def printable(text: str) -> str:
    """Without control and formatting characters (escape sequences, reversed writing), but for tabs and line ends."""
    return "".join(one for one in text if one in "\t\n" or one.isprintable() or unicodedata.category(one) == "Zs")
