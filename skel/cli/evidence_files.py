"""Options of commands that time, and what becomes of what they measured: it is kept, good or bad."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skel.faults import WrongUse

from .database import open_store
from .output import say

if TYPE_CHECKING:
    from skel.validation.bench import BenchResult

State = Annotated[
    str | None, typer.Option("--state", metavar="DIR", help="Folder that keeps what was measured, to go on there.")
]
Evidence = Annotated[
    str | None, typer.Option("--evidence", metavar="DIR", help="Write the evidence there as well as to the database.")
]


def keep_evidence(result: BenchResult, folder: str | None, db: str | None) -> None:
    """Stores what a finished measurement of a skeleton showed; `folder` gets it as a file too. Raises WrongUse."""
    from skel.store.evidence import add_evidence
    from skel.validation.bench import evidence_of, write_evidence

    evidence = evidence_of(result)
    if evidence is None:
        return
    add_evidence(open_store(db), evidence)
    if folder is not None:
        try:
            say(f"evidence: {write_evidence(evidence, Path(folder))}")
        except OSError as error:
            raise WrongUse(f"{folder} cannot be written: {error.strerror}", hint="give another folder") from error
