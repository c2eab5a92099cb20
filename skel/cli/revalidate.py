"""`skel revalidate`: measure again what is stale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from skel.store.schema.words import ExitStatus

from .database import open_store
from .options import Db, Json
from .output import emit, say

if TYPE_CHECKING:
    from rich.console import Console

Name = Annotated[str | None, typer.Argument(metavar="[SKELETON]", help="Only evidence on this skeleton.")]


def command(name: Name = None, as_json: Json = False, db: Db = None) -> int:
    """Run stale evidence again in today's environment and keep what comes of it, good or bad; the old one stays too.

    A package's file is run by the sidecar that the evidence names, else by the only one in examples/sidecars whose
    TARGET it is. What cannot be run again says what it needs: a GPU, a package, a sidecar, a file as it was.

    Exit status: 0 where anything was run again or nothing is stale, 4 where nothing that is stale could be run here.
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
                "needs": list(again.needs),
                "why_not": "; ".join(again.needs) or None,
            }
        )
    ran = sum(one["new_id"] is not None for one in entries)
    document = {"revalidated": entries, "stale": len(entries), "ran": ran, "not_run": len(entries) - ran}
    emit(document, as_json, lambda console: _render(console, document))
    return ExitStatus.OK if ran or not entries else ExitStatus.MISSING_HERE


def _render(console: Console, document: dict[str, Any]) -> None:
    for one in document["revalidated"]:
        console.print(f"{one['skeleton']} on {one['kernel']} ({one['file']}):", markup=False)
        if one["new_id"] is not None:
            console.print(f"  was {one['was']}, now {one['verdict']}", markup=False)
        for need in one["needs"]:
            console.print(f"  not run: {need}", markup=False)
    console.print(
        f"{document['stale']} pieces of evidence were stale: {document['ran']} run again, {document['not_run']} not",
        markup=False,
    )
