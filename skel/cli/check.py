"""`skel check`: compare a candidate with the original, numerics only."""

from __future__ import annotations

from typing import Annotated

import typer

from skel.files import read_source
from skel.store.schema.words import ExitStatus

from .options import Db, Json, existing_file
from .output import emit, working

Original = Annotated[str, typer.Argument(metavar="ORIGINAL", help="The file with the hooks and workloads.")]
Candidate = Annotated[str, typer.Argument(metavar="CANDIDATE", help="The version to be judged.")]
Full = Annotated[bool, typer.Option("--full", help="Run the full protocol: more seeds, values and shapes.")]
Workload = Annotated[str | None, typer.Option("--workload", metavar="FILE", help="A file with the hooks to run it by.")]


def command(
    original: Original, candidate: Candidate, full: Full = False, workload: Workload = None, as_json: Json = False,
    db: Db = None,
) -> int:
    """Run ORIGINAL and CANDIDATE on the same inputs and compare what they compute. Nothing is written."""
    from skel.agent.feedback.after import after_check
    from skel.apply import check

    from .verdict import render_verdict

    first, second = read_source(existing_file(original)), read_source(existing_file(candidate))
    sidecar = str(existing_file(workload)) if workload is not None else None
    with working(f"comparing {candidate} with {original}") as tell:
        result = check(first.text, str(first.path), second.text, str(second.path), sidecar, full=full, report=tell)
        document = result.document
        document["findings"] += after_check(first.text, str(first.path), second.text, str(second.path), sidecar,
                                            document, tell)
    emit(document, as_json, lambda console: render_verdict(console, document))
    return ExitStatus.OK if result.verdict.is_success else ExitStatus.BAD_VERDICT
