"""Two texts as the lines that differ, with the part of each line that changed."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

CONTEXT = 3
"""Unchanged lines shown round a change."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a diff: its numbers in both texts, and its text with the changed part in the middle."""

    kind: str
    """`same`, `gone`, `new`, or `gap` where lines are left out."""
    before: int | None
    after: int | None
    start: str
    changed: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """All lines to be shown, and how many changed."""

    lines: tuple[Line, ...]
    added: int
    removed: int


def difference(before: str, after: str) -> Difference:
    """The lines that differ, with `CONTEXT` lines round them."""
    old, new = before.splitlines(), after.splitlines()
    lines: list[Line] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        if lines or group[0][1] > 0:
            lines.append(Line("gap", None, None, ""))
        for kind, i, i_end, j, j_end in group:
            if kind == "equal":
                lines += [Line("same", i + n + 1, j + n + 1, old[i + n]) for n in range(i_end - i)]
            else:
                lines += _replaced(old[i:i_end], new[j:j_end], i, j)
    return Difference(tuple(lines), sum(one.kind == "new" for one in lines), sum(one.kind == "gone" for one in lines))


def unified(before: str, after: str, path: str) -> Iterator[str]:
    """The same as a unified diff, without line ends."""
    yield from difflib.unified_diff(before.splitlines(), after.splitlines(), path, path, lineterm="", n=CONTEXT)


def _replaced(old: list[str], new: list[str], i: int, j: int) -> Iterator[Line]:
    """All lines that went, then all that came; where as many came as went, each shows what changed within it."""
    paired = len(old) == len(new)
    parts = [
        _parts(a or "", b or "") if paired else ((a or "", "", ""), (b or "", "", "")) for a, b in zip_longest(old, new)
    ]
    yield from (Line("gone", i + n + 1, None, *parts[n][0]) for n in range(len(old)))
    yield from (Line("new", None, j + n + 1, *parts[n][1]) for n in range(len(new)))


def _parts(old: str, new: str) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
    """Both lines as common start, what differs, common end."""
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    first, second = ((one[:start], one[start : len(one) - end], one[len(one) - end :]) for one in (old, new))
    return first, second


def _alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
