"""Plain tables for people: no frames, cells shown as they are (never as markup)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table with `head` over `rows`; None is shown as `-`."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in head:
        made.add_column(title, overflow="fold")
    for row in rows:
        made.add_row(*(Text("-" if cell is None else str(cell)) for cell in row))
    return made
