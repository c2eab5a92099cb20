"""Comments that state a number: a time, a ratio, a limit, a device."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass
from typing import Any

MOST_CHARACTERS = 400
_UNITS = (
    r"x|×|%|us|µs|μs|ms|ns|s|[KMGT]i?B(?:/s)?|[GT]?FLOPS|[GT]?flops|registers?|regs?|warps?|threads?|SMs?|CTAs?|"
    r"blocks?|stages?|bytes?|bits?|elements?|tokens?|heads?|rows?|columns?|waves?|ulps?|ULPs?|programs?|launches"
)
_STATES = re.compile(
    rf"(?:(?<![\w.])~?\d[\d,.]*\s*-?(?:{_UNITS})(?!\w))"  # 1.4x, 30 %, 128 registers
    r"|(?:[<>≤≥]=?\s*\d)|(?:\d\s*[<>≤≥])"  # B <= 8
    r"|(?:\bsm_?\d{2,3}[a-z]?\b)|(?:\b(?:[AHB]\d{2,3}|MI\d{3}X?|RTX\s?\d{4}|gfx\d{3,4})\b)",  # devices
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Comment:
    """Comment lines that follow one another, as one text."""

    line: int
    end_line: int
    text: str


def states_number(text: str) -> bool:
    """True where a comment says how much, how many, or where."""
    return _STATES.search(text) is not None


def python_comments(text: str) -> tuple[Comment, ...]:
    """Every comment of a Python file, consecutive lines joined. A file that ends oddly gives those before the fault."""
    lines: list[tuple[int, str]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                lines.append((token.start[0], token.string.lstrip("#").strip()))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        pass
    return joined(lines)


def joined(lines: list[tuple[int, str]]) -> tuple[Comment, ...]:
    """Lines that follow one another as one comment."""
    found: list[Comment] = []
    for line, text in lines:
        if found and found[-1].end_line == line - 1:
            found[-1] = Comment(found[-1].line, line, f"{found[-1].text} {text}".strip())
        else:
            found.append(Comment(line, line, text))
    return tuple(found)


def stating(comments: tuple[Comment, ...], first: int, last: int) -> list[dict[str, Any]]:
    """Those in the lines `first` to `last`, or right above them, that state a number."""
    return [
        {"line": c.line, "text": shortened(c.text)}
        for c in comments
        if first <= c.end_line + 1 and c.line <= last and states_number(c.text)
    ]


def shortened(text: str) -> str:
    """A text of at most `MOST_CHARACTERS`."""
    plain = re.sub(r"\s+", " ", text).strip()
    return plain if len(plain) <= MOST_CHARACTERS else plain[: MOST_CHARACTERS - 1] + "…"
