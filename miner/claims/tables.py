"""Claims in tables: a column of times before, one after, and one that compares them."""

from __future__ import annotations

import re

from .context import dtype_in, shape_in
from .model import Claim, Quantity
from .numbers import NUMBER, UNIT, number, outcome_of, unit_name
from .segments import Table

_BEFORE = re.compile(
    r"\b(old|before|base(line)?|main|master|orig(inal)?|prev(ious)?|unfused|eager|torch|reference|current main)\b", re.I
)
_AFTER = re.compile(r"\b(new|after|ours?|this( pr)?|opt(imi[sz]ed)?|fused|pr|patch(ed)?|branch|current)\b", re.I)
_RATIO = re.compile(r"speed[- ]?up|ratio|\bgain|improve|faster|delta|Δ|change|diff", re.I)
_UNIT = re.compile(rf"(?:^|[\s(\[,/])({UNIT})")
_CELL = re.compile(rf"[~≈]?\s?({NUMBER})\s?({UNIT})?")
_SIZE = re.compile(r"[A-Za-z]\w{0,11}")


def table_claims(table: Table, gpu: str | None) -> list[Claim]:
    """One claim for each row that has a comparison."""
    old, new, ratio = (_column(table.header, p) for p in (_BEFORE, _AFTER, _RATIO))
    if ratio is not None and ratio in (old, new):
        old, new = (c if c != ratio else None for c in (old, new))
    if ratio is None and (old is None or new is None or old == new):
        return []
    found = []
    for row in table.rows:
        claim = _row(table, row, old, new, ratio, gpu)
        if claim is not None:
            found.append(claim)
    return found


def _column(header: tuple[str, ...], pattern: re.Pattern[str]) -> int | None:
    return next((i for i, cell in enumerate(header) if pattern.search(cell)), None)


def _row(
    table: Table, row: tuple[str, ...], old: int | None, new: int | None, ratio: int | None, gpu: str | None
) -> Claim | None:
    before, after = _quantity(table, row, old), _quantity(table, row, new)
    factor, percent = _compared(row[ratio]) if ratio is not None else (None, None)
    if (before is None or after is None) and factor is None and percent is None:
        return None
    outcome = outcome_of(before, after) if before and after else "unknown"
    if outcome == "unknown" and factor is not None:
        outcome = "gain" if factor > 1.01 else "loss" if factor < 0.99 else "none"
    used = {old, new, ratio}
    sizes = " ".join(
        f"{table.header[i]}={cell}"
        for i, cell in enumerate(row)
        if i not in used and _SIZE.fullmatch(table.header[i]) and re.fullmatch(r"\d+[kK]?", cell)
    )
    return Claim(
        text=" | ".join(row)[:200],
        before=before,
        after=after,
        ratio=factor,
        percent=percent,
        shape=sizes or shape_in(" ".join(row)) or shape_in(table.context),
        gpu=gpu,
        dtype=dtype_in(" ".join((*row, table.context))),
        outcome=outcome,
    )


def _quantity(table: Table, row: tuple[str, ...], column: int | None) -> Quantity | None:
    if column is None:
        return None
    cell = _CELL.match(row[column])
    if cell is None:
        return None
    header = _UNIT.search(table.header[column]) or _UNIT.search(" ".join(table.header)) or _UNIT.search(table.context)
    unit = cell[2] or (header[1] if header else None)
    name = unit_name(unit) if unit else None
    return Quantity(value=number(cell[1]), unit=name) if name else None


def _compared(cell: str) -> tuple[float | None, float | None]:
    """A ratio or a percentage."""
    factor = re.search(rf"({NUMBER})\s?[x×]", cell)
    if factor:
        return number(factor[1]), None
    percent = re.search(rf"([+−–-]?)\s?({NUMBER})\s?%", cell)
    if percent:
        return None, number(percent[2]) * (-1 if percent[1] and percent[1] != "+" else 1)
    return None, None
