"""The process that does jobs, one after the other, until none waits: `python -m skel.agent.runner URL`.

It starts a child for each job. The child gives up all but the roots of the job, the database and a scratch folder; this
one only looks after it: it ends it when its time is up or when the job was cancelled.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from skel.store.database import Database, open_database
from skel.store.jobs import Job, claim_next, end_job, report_progress, state_of
from skel.validation.isolation.limits import adopt_orphans
from skel.validation.isolation.watch import sweep_orphans

from .errors import CallError
from .gpu_lock import GpuLock
from .jobs import most_at_a_time
from .limits import LIMITS
from .processes import is_alive, started

_SCRATCH = "skel-"
"""Begins the name of a job's scratch folder; the job's id follows."""
_WAITS = {"step": "waiting", "done": 0, "message": "another measurement holds the GPU"}
_LOOK_SECONDS = 0.1
_GRACE_SECONDS = 3.0
"""How long workers may take to notice that the job's process is gone."""


def main() -> None:
    """Do jobs until none waits, or as many run as may."""
    database = open_database(sys.argv[1])
    own = started(os.getpid())
    assert own is not None
    adopt_orphans()
    gpu = GpuLock.opened()
    while (job := claim_next(database, os.getpid(), own, most_at_a_time(), is_alive)) is not None:
        _sweep(database)
        with gpu.held(partial(report_progress, database, job.id, _WAITS)):
            if state_of(database, job.id) == "running":  # it may have been cancelled while it waited
                _run(database, job)


def _sweep(database: Database) -> None:
    """Remove what jobs left behind whose process was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}job_*-*"):
        key = folder.name.removeprefix(_SCRATCH).partition("-")[0]
        if state_of(database, key) in ("done", "failed", "cancelled"):
            shutil.rmtree(folder, ignore_errors=True)


def _run(database: Database, job: Job) -> None:
    scratch = Path(tempfile.mkdtemp(prefix=f"{_SCRATCH}{job.id}-"))
    # Others may pass through it, not look into it: workers run as users of their own.
    scratch.chmod(0o711)
    try:
        child = os.fork()
        if child == 0:
            _work(database, job, scratch)
        _look_after(database, job, child)
        _end_the_rest()
        # Only where the child could not say itself how it ended.
        end_job(database, job.id, "failed", error=CallError("job_interrupted").to_dict())
    finally:
        _remove(scratch)


def _end_the_rest() -> None:
    """End what the job started and left behind: with its process gone it became ours."""
    deadline = time.monotonic() + _GRACE_SECONDS
    while psutil.Process().children() and time.monotonic() < deadline:
        sweep_orphans(set())
        time.sleep(_LOOK_SECONDS)


def _work(database: Database, job: Job, scratch: Path) -> None:
    """The child. Never returns."""
    try:
        from .child import do

        do(database, job, scratch)
    finally:
        os._exit(0)


def _look_after(database: Database, job: Job, child: int) -> None:
    """Wait for the child, or end it: its time is up, or the job is no longer running."""
    deadline = time.monotonic() + LIMITS.job_seconds
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > deadline:
            error = CallError("job_timeout", seconds=f"{LIMITS.job_seconds:g}").to_dict()
            end_job(database, job.id, "failed", error=error)
        if state_of(database, job.id) != "running":
            # It may have ended the job itself just now, and be on its way out.
            time.sleep(_LOOK_SECONDS)
            if os.waitpid(child, os.WNOHANG)[0] == 0:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            return
        time.sleep(_LOOK_SECONDS)


def _remove(scratch: Path) -> None:
    """Remove the scratch folder; the workers' process may still be writing its last."""
    deadline = time.monotonic() + _GRACE_SECONDS
    while scratch.exists() and time.monotonic() < deadline:
        shutil.rmtree(scratch, ignore_errors=True)
        if scratch.exists():
            time.sleep(_LOOK_SECONDS)
    with contextlib.suppress(OSError):
        scratch.rmdir()


if __name__ == "__main__":
    main()
