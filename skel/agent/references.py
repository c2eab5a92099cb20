"""What answers only refer to: whole records, evidence, parts of jobs, the table of codes."""

from __future__ import annotations

import json
import re
from typing import Any

from skel.store.jobs import list_jobs
from skel.store.schema import CODES

from .errors import CallError
from .session_type import Session
from .tools.get_job import part_of

_SKELETON = re.compile(r"^[a-z][a-z0-9_]{1,63}$")
_HASH = re.compile(r"^[0-9a-f]{64}$")
_JOB = re.compile(r"^job_[0-9a-f]{16}$")

TEMPLATES: dict[str, tuple[str, str]] = {
    "skel://skeletons/{name}": ("skeleton", "A whole record."),
    "skel://evidence/{skeleton}/{key}": ("evidence", "A whole piece of evidence."),
    "skel://jobs/{job}/{part}": ("job_part", "`report`, `diff` or `text` of a job."),
}
FIXED: dict[str, tuple[str, str]] = {
    "skel://skeletons": ("skeletons", "Every record: name, title, kind, purpose."),
    "skel://jobs": ("jobs", "The newest jobs of these roots."),
    "skel://codes": ("codes", "Every code of refusals, findings and errors, with its hint."),
    "skel://schema/skeleton": ("schema", "The JSON Schema of a record."),
}


def skeleton(session: Session, name: str) -> str:
    """A record as JSON. Raises CallError, UnknownSkeleton."""
    from skel.store.records import get_skeleton

    _require(_SKELETON, name, "name")
    return get_skeleton(session.database, name).model_dump_json(indent=1, exclude_none=True)


def skeletons(session: Session) -> str:
    """The list of records."""
    from dataclasses import asdict

    from skel.store.records import list_skeletons

    return _json([asdict(one) for one in list_skeletons(session.database)])


def evidence(session: Session, skeleton: str, key: str) -> str:
    """A piece of evidence as JSON. Raises CallError."""
    from skel.store.evidence import evidence_for, evidence_id

    _require(_SKELETON, skeleton, "skeleton")
    _require(_HASH, key, "key")
    for one in evidence_for(session.database, skeleton):
        if evidence_id(one) == key:
            return one.model_dump_json(indent=1, exclude_none=True)
    raise CallError("bad_input", field="key", why=f"{skeleton} has no such evidence")


def job_part(session: Session, job: str, part: str) -> str:
    """A part of a job. Raises CallError, UnknownJob."""
    _require(_JOB, job, "job")
    if part not in ("report", "diff", "text"):
        raise CallError("bad_input", field="part", why="it is report, diff or text")
    return part_of(session, job, part)  # type: ignore[arg-type]


def jobs(session: Session) -> str:
    """The newest jobs."""
    return _json(
        [
            {
                "job": one.id,
                "tool": one.tool,
                "state": one.state,
                "created_at": one.created_at,
                "verdict": (one.result or {}).get("verdict"),
                "summary": (one.result or {}).get("summary"),
            }
            for one in list_jobs(session.database, session.roots.names)
        ]
    )


def codes() -> str:
    """The table of codes."""
    return _json(
        [{"code": one.name, "kind": one.kind, "message": one.template, "hint": one.hint} for one in CODES.values()]
    )


def schema() -> str:
    """The JSON Schema of a record."""
    from skel.store.load import schema_json

    return schema_json()


def _require(pattern: re.Pattern[str], value: str, field: str) -> None:
    if not pattern.match(value):
        raise CallError("bad_input", field=field, why="it is not of the form of one")


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)
