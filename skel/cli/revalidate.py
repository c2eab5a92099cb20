"""`skel revalidate`: measure again what is stale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .database import open_store
from .options import Db, Json
from .output import emit, say

if TYPE_CHECKING:
    from rich.console import Console

Name = Annotated[str | None, typer.Argument(metavar="[SKELETON]", help="Only evidence on this skeleton.")]


def command(name: Name = None, as_json: Json = False, db: Db = None) -> int:
    """Run stale evidence again in today's environment and keep what comes of it, good or bad; the old one stays too.

    Evidence of a file that is not here, or is another text now, cannot be run again, and this is said.
    """
    from skel.revalidate import revalidate
    from skel.store.evidence import add_evidence
    from skel.store.evidence_query import find_evidence
    from skel.store.records import get_skeleton

    from .evidence import rows

    database = open_store(db)
    entries: list[dict[str, Any]] = []
    for row in rows(database, name):
        if row["status"] != "stale":
            continue
        say(f"measuring {row['skeleton']} on {row['file']} again")
        ((key, before),) = find_evidence(database, row["id"])
        again = revalidate(key, before, get_skeleton(database, before.skeleton))
        stored = add_evidence(database, again.evidence) if again.evidence is not None else None
        entries.append(
            {
                **{field: row[field] for field in ("id", "skeleton", "kernel", "file", "level", "stale_because")},
                "was": before.verdict.value,
                "verdict": again.evidence.verdict.value if again.evidence is not None else None,
                "new_id": stored,
                "why_not": again.why,
            }
        )
    document = {"revalidated": entries}
    emit(document, as_json, lambda console: _render(console, entries))
    return 0


def _render(console: Console, entries: list[dict[str, Any]]) -> None:
    for one in entries:
        came = f"{one['was']}, now {one['verdict']}" if one["verdict"] else f"not run: {one['why_not']}"
        console.print(f"{one['skeleton']} on {one['kernel']} ({one['file']}): {came}", markup=False)
    console.print(f"{len(entries)} pieces of evidence were stale", markup=False)
