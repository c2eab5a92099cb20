"""Tool get_job."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from skel.store.jobs import get_job, job_text
from skel.store.schema import Record

from ..errors import CallError
from ..limits import LIMITS
from ..session_type import Session
from ..tool import JobId, Tool, Waiting, paragraphs
from ..views import JobOutput

Part = Literal["report", "diff", "text"]


class Given(Waiting):
    """A job, and which part of it."""

    job: JobId | None = None
    """Without it, the newest."""
    part: Part | None = None
    """`report` is the whole document as JSON, `diff` the patch, `text` the rewritten file."""
    offset: Annotated[int, Field(ge=0, le=1 << 30)] = 0
    """Characters of the part to leave out: a part comes in pieces."""


class Piece(Record):
    """A piece of a part."""

    part: Part
    offset: int
    text: str
    next_offset: int | None
    """Where the next piece begins; absent at the end."""


class Answer(JobOutput):
    """A job, with a piece of one part where that was asked for."""

    result: dict[str, Any] | None = None
    """As the output of its tool says."""
    piece: Piece | None = None


def _start(session: Session, given: Given) -> Record | str:
    job = get_job(session.database, given.job, session.roots.names)
    if given.part is None:
        return job.id
    from ..views import job_output

    text = part_of(session, job.id, given.part)
    end = given.offset + LIMITS.part_bytes
    piece = Piece(
        part=given.part,
        offset=given.offset,
        text=text[given.offset : end],
        next_offset=end if end < len(text) else None,
    )
    shown = job_output(job) | {"findings": [], "refusals": [], "result": None, "next": []}
    return Answer.model_validate(shown | {"piece": piece})


def part_of(session: Session, key: str, part: Part) -> str:
    """The whole of a part. Raises CallError(job_not_done), UnknownJob."""
    import json

    job = get_job(session.database, key, session.roots.names)
    stored = (job.result or {}).get(part) if part != "text" else job_text(session.database, key)
    if stored is None:
        raise CallError("job_not_done", job=key, state=job.state, what=part)
    return str(stored) if isinstance(stored, str) else json.dumps(stored, indent=1, ensure_ascii=False)


TOOL = Tool(
    "get_job",
    paragraphs("""Where a job stands and what came of it; with `part`, its whole report, its patch or the rewritten
    file, in pieces. Answers also after a restart, and for jobs that other calls of these roots began.

    Next: follow `next`, or look at the findings, errors first."""),
    Given,
    Answer,
    _start,
)
