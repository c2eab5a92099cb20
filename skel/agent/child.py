"""What the child of a runner does: gives up what the job does not need, does the job, writes down what came of it."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skel.store.database import Database
from skel.store.errors import StoreError
from skel.store.jobs import Job, end_job, report_progress
from skel.validation.isolation.limits import die_with_parent

from .confine import confine
from .errors import CallError
from .limits import LIMITS
from .registry import TOOLS
from .roots import Roots
from .session import as_call_error
from .work import Work

_MESSAGE = 300


def do(database: Database, job: Job, scratch: Path) -> None:
    """Do the job. Never raises: a fault becomes the job's error."""
    die_with_parent()
    os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)
    try:
        tool = TOOLS[job.tool]
        assert tool.work is not None
        roots = Roots(tuple(map(Path, job.roots)))
        os.chdir(roots.folders[0])  # answers name files from there
        confine(roots.folders, (scratch, database.path.parent), roots_are_writable=not tool.reads_only)
        work = Work(database, roots, job.id, scratch, _reporter(database, job.id))
        worked = tool.work(work, tool.input.model_validate(job.request))
        result = worked.to_dict()
        if len(json.dumps(result)) > LIMITS.result_bytes:
            result["report"], result["parts"] = None, [part for part in result["parts"] if part != "report"]
        end_job(database, job.id, "done", result, worked.text)
    except BaseException as error:
        end_job(database, job.id, "failed", error=_stored(job, error))


def _stored(job: Job, error: BaseException) -> dict[str, Any]:
    """The error as it is kept; the traceback of a fault of ours stays in the database."""
    known = as_call_error(error, job.tool) if isinstance(error, Exception) else CallError("job_interrupted")
    if known.code != "internal_error":
        return known.to_dict()
    trace = "".join(traceback.format_exception(error))[-4000:]
    said = CallError("job_crashed", error=f"{type(error).__name__} in {job.tool}").to_dict()
    return {**said, "traceback": trace}


def _reporter(database: Database, key: str) -> Callable[[str, str], None]:
    done = 0

    def report(step: str, message: str) -> None:
        nonlocal done
        done += 1
        # Progress is a courtesy: a database that is busy for once must not end the job.
        with contextlib.suppress(StoreError):
            report_progress(database, key, {"step": step, "done": done, "message": message[:_MESSAGE]})

    return report
