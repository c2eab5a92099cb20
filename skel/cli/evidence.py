"""`skel evidence`: what was measured, what it is worth today, and its exchange with others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skel.faults import WrongUse
from skel.files import write_whole

from .database import open_store
from .options import Db, Json, existing_file
from .output import emit, working

if TYPE_CHECKING:
    from rich.console import Console

    from skel.store.database import Database

Action = Annotated[str, typer.Argument(metavar="list|show|export|import", help="What to do.")]
Which = Annotated[str | None, typer.Argument(metavar="[SKELETON|ID|FILE]", help="Of what; see below.")]
Out = Annotated[str | None, typer.Option("-o", "--out", metavar="OUT", help="The file that `export` writes.")]


def command(action: Action, which: Which = None, out: Out = None, as_json: Json = False, db: Db = None) -> int:
    """Show evidence, good and bad, with its status in today's environment.

    `list [SKELETON]`, `show ID` (its first letters suffice), `export [SKELETON] -o FILE`, `import FILE`.

    A status is `hypothesis` (shows nothing yet), `reproduced`, `refuted`, or `stale` (Triton, driver or architecture
    are others now; see `skel revalidate`).
    """
    if action not in _ACTIONS:
        raise WrongUse(f"there is no `skel evidence {action}`", hint="there are list, show, export and import")
    if (out is None) == (action == "export"):
        raise WrongUse("`export` writes a file, the others do not", hint="skel evidence export -o FILE")
    database = open_store(db)
    with working("reading the evidence"):
        document = _ACTIONS[action](database, which, out)
    emit(document, as_json, lambda console: _render(console, document))
    return 0


def rows(database: Database, skeleton: str | None) -> list[dict[str, Any]]:
    """Every piece of evidence, in short, with its status."""
    from skel.here import environment_here
    from skel.store.evidence_query import all_evidence
    from skel.store.evidence_status import stale_because, status_of
    from skel.store.records import get_skeleton

    now, sources, found = environment_here(), {}, []
    for key, one in all_evidence(database, skeleton):
        if one.skeleton not in sources:
            held = get_skeleton(database, one.skeleton)
            sources[one.skeleton] = [path for source in held.sources if (path := getattr(source, "path", None))]
        found.append(
            {
                "id": key,
                "skeleton": one.skeleton,
                "kernel": one.kernel,
                "file": one.file,
                "level": one.level,
                "verdict": one.verdict.value,
                "status": status_of(one, now, sources[one.skeleton]).value,
                "stale_because": list(stale_because(one, now)),
                "device": one.environment.device,
                "measured_at": one.measured_at.isoformat(),
            }
        )
    return found


def _list(database: Database, which: str | None, out: str | None) -> dict[str, Any]:
    return {"evidence": rows(database, which)}


def _show(database: Database, which: str | None, out: str | None) -> dict[str, Any]:
    from skel.store.evidence_query import find_evidence

    found = find_evidence(database, which or "")
    if which is None or len(found) != 1:
        what = f"{len(found)} pieces of evidence have ids that begin so" if which else "no id was given"
        raise WrongUse(what, hint="`skel evidence list` has the ids")
    ((key, one),) = found
    (short,) = (row for row in rows(database, one.skeleton) if row["id"] == key)
    return {**short, "content": one.model_dump(mode="json")}


def _export(database: Database, which: str | None, out: str | None) -> dict[str, Any]:
    from skel.store.evidence_query import all_evidence

    found = [one.model_dump(mode="json", exclude_none=True) for _, one in all_evidence(database, which)]
    assert out is not None
    write_whole(Path(out), json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return {"out": out, "exported": len(found)}


def _import(database: Database, which: str | None, out: str | None) -> dict[str, Any]:
    from skel.store.evidence import add_evidence, evidence_id
    from skel.store.evidence_query import all_evidence, read_evidence
    from skel.store.records import get_skeleton

    if which is None:
        raise WrongUse("no file was given", hint="skel evidence import FILE")
    found = read_evidence(existing_file(which))
    for one in found:
        get_skeleton(database, one.skeleton)
    known = {key for key, _ in all_evidence(database)}
    new = [one for one in found if evidence_id(one) not in known]
    return {"file": which, "added": [add_evidence(database, one) for one in new], "known": len(found) - len(new)}


_ACTIONS = {"list": _list, "show": _show, "export": _export, "import": _import}


def _render(console: Console, document: dict[str, Any]) -> None:
    from .tables import print_table

    if "evidence" in document:
        columns = ("id", "skeleton", "kernel", "level", "verdict", "status", "device")
        found = [(row["id"][:12], *(str(row[name]) for name in columns[1:])) for row in document["evidence"]]
        if found:
            print_table(console, columns, found)
        console.print(f"{len(found)} pieces of evidence", markup=False)
        return
    console.print(json.dumps(document, indent=2, ensure_ascii=False), markup=False)
