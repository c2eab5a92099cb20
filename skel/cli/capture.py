"""`skel capture`: record the Triton launches of a command so that they replay elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skel.faults import WrongUse
from skel.store.schema.words import ExitStatus

from .options import Db, Json
from .output import emit, working

if TYPE_CHECKING:
    from rich.console import Console

Command = Annotated[list[str], typer.Argument(metavar="COMMAND...", help="The command, after `--`.")]
Out = Annotated[str, typer.Option("-o", "--out", metavar="OUT", help="The capture to write, one zip.")]
Values = Annotated[str, typer.Option("--values", metavar="KIND", help="Keep values: `stored`, or their `statistics`.")]


def command(
    words: Command,
    out: Out = "capture.zip",
    values: Values = "stored",
    as_json: Json = False,
    db: Db = None,
) -> int:
    """Run COMMAND and record every Triton launch: arguments, grid, options, source, and the values or their statistics.

    Works with a GPU, with TRITON_INTERPRET=1, and with neither: then launches are only compiled. The capture is a
    workload: `skel apply NAME FILE --workload capture.zip`, `skel check ORIGINAL CANDIDATE --workload capture.zip`.
    """
    from skel.validation.workloads.capture.command import capture
    from skel.validation.workloads.capture.summary import summary

    if values not in ("stored", "statistics"):
        raise WrongUse(f"--values {values} is neither `stored` nor `statistics`")
    try:
        with working("running the command"):
            captured = capture(words, Path(out), values)
    except OSError as error:
        raise WrongUse(f"{error.filename or words[0]}: {error.strerror}", hint="check the command and OUT") from error
    document = summary(captured, out)
    emit(document, as_json, lambda console: _render(console, document))
    return ExitStatus.OK if captured.status == 0 and document["launches"] else ExitStatus.BAD_VERDICT


def _render(console: Console, document: dict[str, Any]) -> None:
    from .tables import print_table

    rows = [
        (one["kernel"], "x".join(map(str, one["grid"])), str(one["count"]), one["replayed_by"], Path(one["file"]).name)
        for one in document["launches"]
    ]
    if rows:
        print_table(console, ("kernel", "grid", "launches", "replayed by", "file"), rows)
    for finding in document["findings"]:
        console.print(f"{finding['code']}: {finding['message']}", markup=False)
    if document["out"]:
        console.print(f"{len(rows)} launches, {len(document['calls'])} calls in {document['out']}", markup=False)
