"""A message in the pieces that are read one by one: sentences with their paragraph, list items, and tables."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ITEM = re.compile(r"^\s*(?:[-*•+]|\d+[.)])\s+")
_FENCE = re.compile(r"^\s*(```|~~~)")
_ROW = re.compile(r"^\s*\|.*\|\s*$")
_RULE = re.compile(r"^\s*\|?[\s:|+-]*-{2,}[\s:|+-]*\|?\s*$")
_LISTING = re.compile(r"\s{3,}\S|:\s{2,}\S|^[\w ./×=-]{2,60}:\s")
_TRAILER = re.compile(r"^\s*(co-authored-by|signed-off-by|reviewed-by|change-id|cherry[- ]picked)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Segment:
    """One sentence, list item or line."""

    text: str
    block: int
    """The number of its paragraph or list."""
    lead: str
    """The line that leads to the paragraph, such as `Measured on one H100:`; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its header and its rows, cell by cell."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    context: str


def split_message(message: str) -> tuple[list[Segment], list[Table]]:
    """Segments and tables of a message, in order. Trailers are left out."""
    segments: list[Segment] = []
    tables: list[Table] = []
    lead = ""
    for number, block in enumerate(_blocks(message)):
        table = _table(block, lead)
        if table is not None:
            tables.append(table)
            continue
        text = " ".join(line.strip() for line in block)
        for piece in _pieces(block):
            segments.append(Segment(piece, number, lead))
        lead = text if text.rstrip().endswith(":") or len(block) == 1 else lead if _is_list(block) else ""
    return segments, tables


def _blocks(message: str) -> list[list[str]]:
    """Paragraphs; a table is one, and so is what surrounds it."""
    blocks: list[list[str]] = [[]]
    was_row = False
    for line in message.splitlines():
        if _TRAILER.match(line):
            continue
        row = _ROW.match(line) is not None
        if not line.strip() or _FENCE.match(line) or row != was_row:
            blocks.append([])
        if line.strip() and not _FENCE.match(line):
            blocks[-1].append(line)
        was_row = row
    return [b for b in blocks if b]


def _is_list(block: list[str]) -> bool:
    return _ITEM.match(block[0]) is not None


def _pieces(block: list[str]) -> list[str]:
    """Wrapped lines are joined; list items, and lines that look like a line of a listing, stay apart."""
    joined: list[str] = []
    for line in block:
        listing = _LISTING.search(line.strip()) is not None
        if not joined or _ITEM.match(line) or listing:
            joined.append(line.strip())
        else:
            joined[-1] += " " + line.strip()
    return [s for text in joined for s in re.split(r"(?<=[a-z0-9)%x][.;])\s+(?=[A-Z(])", text)]


def _table(block: list[str], lead: str) -> Table | None:
    rows = [line for line in block if not _RULE.match(line)]
    if len(rows) >= 2 and all(_ROW.match(r) for r in rows):
        cells = [tuple(c.strip(" *`") for c in r.strip().strip("|").split("|")) for r in rows]
    elif len(block) >= 3 and _columns(block) is not None:
        cells = [tuple(re.split(r"\s{2,}", r.strip())) for r in rows]
    else:
        return None
    return Table(cells[0], tuple(c for c in cells[1:] if len(c) == len(cells[0])), lead)


def _columns(block: list[str]) -> int | None:
    """The number of columns of a table that is set with spaces; None for anything else."""
    counts = {len(re.split(r"\s{2,}", line.strip())) for line in block if not _RULE.match(line)}
    return counts.pop() if len(counts) == 1 and min(counts, default=0) >= 3 else None
