"""Tool cancel_job."""

from __future__ import annotations

from typing import Any

from skel.store.jobs import end_job, get_job
from skel.store.schema import Record

from ..session_type import Session
from ..tool import JobId, Tool, paragraphs
from ..views import JobOutput, job_output


class Given(Record):
    """Which job."""

    job: JobId


class Answer(JobOutput):
    """The job as it is now."""

    result: dict[str, Any] | None = None


def _start(session: Session, given: Given) -> Record:
    job = get_job(session.database, given.job, session.roots.names)
    # Whoever looks after it sees this within a tenth of a second, and ends it with all it started.
    end_job(session.database, job.id, "cancelled")
    return Answer.model_validate(job_output(get_job(session.database, job.id, session.roots.names)))


TOOL = Tool(
    "cancel_job",
    paragraphs("""End a job that waits or runs, with every process it started. A job that has ended stays as it is."""),
    Given,
    Answer,
    _start,
    reads_only=False,
)
