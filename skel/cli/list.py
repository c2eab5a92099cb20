"""`skel list`: every skeleton in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skel.counted import counted

from .options import Db, Json
from .output import emit, working

if TYPE_CHECKING:
    from rich.console import Console

    from skel.store.records import Listed


def command(as_json: Json = False, db: Db = None) -> int:
    """List every skeleton: what it is called, what it is for, and whether it rewrites or advises."""
    from skel.store.records import list_skeletons

    from .database import open_store

    with working("reading the skeletons"):
        listed = list_skeletons(open_store(db))
    document = {"skeletons": listed}
    emit(document, as_json, lambda console: _render(console, listed))
    return 0


def _render(console: Console, listed: tuple[Listed, ...]) -> None:
    from .tables import print_table

    rows = [(x.name, "advises" if x.advice else "rewrites", x.kind, x.purpose, x.title) for x in listed]
    print_table(console, ("skeleton", "does", "kind", "purpose", "title"), rows)
    rewriting = sum(not x.advice for x in listed)
    total = counted(len(listed), "skeleton")
    console.print(f"{total}, {rewriting} of them rewriting; see `skel show NAME`", markup=False)
