"""Plain tables for people: no frames, cells shown as they are (never as markup)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def print_table(console: Console, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print `head` over `rows` in columns; None is shown as `-`."""
    from rich.cells import cell_len

    texts = [["-" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(head, *texts, strict=True)]
    for number, row in enumerate([list(head), *texts]):
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        console.print("  ".join(cells).rstrip(), style="bold" if number == 0 else None, markup=False)
