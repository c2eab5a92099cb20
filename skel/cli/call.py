"""`skel call`: one tool, for agents without MCP."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from skel.store.schema.words import ExitStatus, Verdict

from .database import open_store
from .options import Db, Json
from .output import emit
from .serve import Root, open_roots

Name = Annotated[str, typer.Argument(metavar="TOOL", help="Name of a tool; see `skel tools`.")]
Given = Annotated[str, typer.Argument(metavar="JSON", help="Its input as a JSON object, or `-` to read it from stdin.")]
_STATUS = {
    "internal_error": ExitStatus.OUR_FAULT,
    "job_crashed": ExitStatus.OUR_FAULT,
    "not_here": ExitStatus.MISSING_HERE,
    "store_unavailable": ExitStatus.MISSING_HERE,
}


def command(name: Name, given: Given = "{}", roots: Root = [], as_json: Json = False, db: Db = None) -> int:  # noqa: B006
    """Call one tool and print its answer as JSON. Long work answers with a job: call get_job for it.

    Exit status: as for every command; 2 also for any other error that the answer names.
    """
    from skel.agent.errors import CallError
    from skel.agent.session import Session

    session = Session(open_store(db), open_roots(roots))
    try:
        answer = session.call(name, _parsed(given))
    except CallError as error:
        status = _STATUS.get(error.code, ExitStatus.WRONG_USE)
        emit({"error": {**error.to_dict(), "status": status}}, True, lambda _: None)
        return status
    document = answer.model_dump(mode="json", exclude_none=True)
    emit(document, True, lambda _: None)
    return _status(document)


def _parsed(given: str) -> Any:
    """The JSON as a value; what is none is handed on as it is, and refused with a code like any other input."""
    from skel.agent.limits import LIMITS

    text = sys.stdin.read(LIMITS.argument_bytes + 2) if given == "-" else given
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _status(document: dict[str, Any]) -> int:
    """0 where it worked and no verdict is bad."""
    failed = document.get("error")
    if failed is not None:
        return _STATUS.get(failed["code"], ExitStatus.WRONG_USE)
    verdict = document.get("verdict")
    good = verdict is None or Verdict(verdict).is_success
    return ExitStatus.OK if good else ExitStatus.BAD_VERDICT
