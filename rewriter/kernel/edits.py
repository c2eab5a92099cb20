"""Edits as replacements of source spans. Only the text inside a span changes; everything else stays to the byte."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .source import SourceFile


class OverlappingEdits(Exception):
    """Two edits touch the same characters; `offset` says where."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"edits overlap at offset {offset}")
        self.offset = offset


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace `text[start:end]` by `replacement`. Offsets count characters; start == end inserts."""

    start: int
    end: int
    replacement: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """`text` with all edits made at once. Equal edits count once.

    Raises OverlappingEdits where two different edits touch the same characters or insert at the same place.
    """
    ordered = sorted(set(edits))
    pieces: list[str] = []
    position = 0
    last: Edit | None = None
    for edit in ordered:
        if edit.start < position or (last is not None and edit.start == last.start):
            raise OverlappingEdits(edit.start)
        pieces += (text[position : edit.start], edit.replacement)
        position = edit.end
        last = edit
    pieces.append(text[position:])
    return "".join(pieces)


def line_edits(source: SourceFile, new: str) -> list[Edit]:
    """The edits, by whole lines, that turn the file into `new`: for rewrites that took more than one step."""
    from .source import split_lines

    lines = split_lines(new)
    matcher = SequenceMatcher(None, source.lines, lines, autojunk=False)
    return [
        Edit(source.line_start(a + 1), source.line_start(b + 1), "".join(lines[c:d]))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]
