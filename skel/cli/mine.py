"""`skel mine`: what sources know, put into the database. Sources are read, never imported or run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skel.counted import counted

from .database import open_store
from .options import Db, Json
from .output import console as console_on
from .output import emit, say

if TYPE_CHECKING:
    from rich.console import Console

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SOURCE]...",
        help="A known source, NAME==VERSION, a repository with @REVISION, a folder, a wheel, or a source's YAML file; "
        "without any, the known packages.",
    ),
]
Report = Annotated[bool, typer.Option("--report", help="Mine nothing: sum up what was mined of SOURCE, or of all.")]
Drafts = Annotated[
    Path | None,
    typer.Option("--drafts", metavar="DIR", help="Write the histories' admitted drafts there, to name and finish."),
]
MOST_SHOWN = 10
_COLUMNS = ("uses", "could use", "hazard", "new", "gone", "changed")
"""Those in which nothing is are left out."""


def command(
    sources: Sources = None, report: Report = False, drafts: Drafts = None, as_json: Json = False, db: Db = None
) -> int:
    """Read sources, and store which kernels use which skeletons, or could, with their resources and conditions.

    A revision that was mined before is left alone; a new one adds and retires. What is ended goes on when it is
    called again. `skel show NAME` lists the places, and what commits claim. A draft is admitted when it is
    tried on 20 functions or more that its commits left alone, so a small repository gives none.
    """
    from skel.mine import mine_sources, reported

    database = open_store(db)
    if report:
        document = reported(database, sources or [])
    else:
        with _progress() as steps:
            document = mine_sources(database, sources or [], steps, drafts)
    emit(document, as_json, lambda console: _render(console, document))
    return 0


Steps = Callable[[str, int, int], None]
"""Called with what is being read, how much of it is done, and how much there is."""


@contextmanager
def _progress() -> Iterator[Steps]:
    """A bar on a terminal, else one line a source, on stderr."""
    if not sys.stderr.isatty():
        said: set[str] = set()

        def line(doing: str, done: int, total: int) -> None:
            if doing not in said:
                said.add(doing)
                what = "commit" if doing.startswith("reading the history of ") else "file"
                say(f"{doing} ({counted(total, what)}) ...")

        yield line
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console_on(sys.stderr), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def bar(doing: str, done: int, total: int) -> None:
            if doing not in tasks:
                tasks[doing] = bars.add_task(doing, total=total)
            bars.update(tasks[doing], completed=done, total=total)

        yield bar


def _render(console: Console, document: dict[str, Any]) -> None:
    from .tables import print_table

    for source in document["sources"]:
        about = f"{source['name']} {source['revision'][:12]} ({source['kind']}, {source['licence']})"
        if source["state"] == "unchanged":
            about += ": mined before, nothing to do"
        console.print(about, style="bold", markup=False)
        languages = ", ".join(f"{count} {language}" for language, count in source["languages"].items())
        files, kernels = counted(source["files"], "file"), counted(source["kernels"], "kernel")
        console.print(f"  {files}, {kernels} ({languages})", markup=False)
        if source["other_languages"]:
            others = ", ".join(f"{count} {language}" for language, count in source["other_languages"].items())
            console.print(f"  seen, not mined: {others}", markup=False)
        if source.get("history"):
            history = source["history"]
            commits = f"{counted(history['commits'], 'commit')} changed kernels, with"
            console.print(f"  {commits} {counted(history['claims'], 'claim')} ({history['new']} new)", markup=False)
        for skipped in source["not_read"]:
            console.print(f"  not read: {skipped['file']}: {skipped['why']}", markup=False)
        for fault in source["faults"]:
            console.print(f"  a fault of ours: {fault['file']}: {fault['what']}", markup=False)
        techniques = source["techniques"]
        columns = {column: column.replace(" ", "_") for column in _COLUMNS}
        filled = [column for column, key in columns.items() if any(counts.get(key) for counts in techniques.values())]
        rows = [[name, *(counts.get(columns[c]) or "" for c in filled)] for name, counts in techniques.items()]
        if rows:
            print_table(console, ["skeleton", *filled], rows)
    for made in document.get("drafts", ()):
        counts = f"{counted(len(made['written']), 'draft')} written, {len(made['not_admitted'])} not admitted"
        console.print(f"{made['source']}: {counts}", style="bold", markup=False)
        for path in made["written"]:
            console.print(f"  {path}", markup=False)
        for one in made["not_admitted"][:MOST_SHOWN]:
            edit = f"{one['edit']} ({counted(one['kernels'], 'kernel')})"
            console.print(f"  not admitted: {edit}: {one['reasons'][0]}", markup=False)
        if (more := len(made["not_admitted"]) - MOST_SHOWN) > 0:
            console.print(f"  and {more} more; `--json` has them all", markup=False)
    if not document["sources"]:
        console.print("nothing was mined yet: `skel mine` reads the known packages", markup=False)
