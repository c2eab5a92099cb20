"""The process that looks after a job: its time, its cancellation, what is left behind."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from skel.agent import processes, runner
from skel.agent.session import Session
from skel.store.database import Database
from skel.store.jobs import Job, claim_next, end_job, get_job, list_jobs, state_of


@pytest.fixture
def running(idle: Session) -> tuple[Database, Job]:
    """A job that this process has taken."""
    idle.call("scan_kernel", {"file": "kda_decode.py", "wait_seconds": 0})
    own = processes.started(os.getpid())
    assert own is not None
    job = claim_next(idle.database, os.getpid(), own, 2, processes.is_alive)
    assert job is not None
    return idle.database, job


def sleeper() -> int:
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    return child


def test_a_job_that_takes_too_long_is_ended(running: tuple[Database, Job], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "LIMITS", dataclasses.replace(runner.LIMITS, job_seconds=0.2))
    database, job = running
    child = sleeper()
    runner._look_after(database, job, child)
    found = get_job(database, job.id, job.roots)
    assert found.state == "failed" and found.error is not None and found.error["code"] == "job_timeout"
    assert not Path(f"/proc/{child}").exists()


def test_a_cancelled_job_is_ended_at_once(running: tuple[Database, Job]) -> None:
    database, job = running
    child = sleeper()
    end_job(database, job.id, "cancelled")
    begun = time.monotonic()
    runner._look_after(database, job, child)
    assert time.monotonic() - begun < 5 and not Path(f"/proc/{child}").exists()


def test_a_child_that_dies_silently_fails_its_job(
    running: tuple[Database, Job], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(runner.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(runner, "_work", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    database, job = running
    runner._run(database, job)
    found = get_job(database, job.id, job.roots)
    assert found.state == "failed" and found.error is not None and found.error["code"] == "job_interrupted"
    assert list(tmp_path.glob("skel-*")) == []


def test_what_a_job_leaves_running_is_ended(
    running: tuple[Database, Job], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = tmp_path / "said"

    def leave(database: Database, job: Job, scratch: Path) -> None:
        left = subprocess.Popen(["sleep", "60"], start_new_session=True)
        said.write_text(str(left.pid))
        os._exit(0)

    monkeypatch.setattr(runner, "_work", leave)
    database, job = running
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            runner.adopt_orphans()
            runner._run(database, job)
        os._exit(0)
    os.waitpid(child, 0)
    pid = int(said.read_text())
    deadline = time.monotonic() + 5
    while processes.started(pid) is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes.started(pid) is None


def test_only_what_ended_jobs_left_is_swept(
    running: tuple[Database, Job], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(runner.tempfile, "tempdir", str(tmp_path))
    database, job = running
    mine, unknown = tmp_path / f"skel-{job.id}-abc", tmp_path / "skel-job_0123456789abcdef-abc"
    for folder in (mine, unknown):
        folder.mkdir()
    runner._sweep(database)
    assert mine.exists() and unknown.exists()
    end_job(database, job.id, "done", {"summary": "x"})
    runner._sweep(database)
    assert not mine.exists() and unknown.exists()


def test_a_process_is_known_by_its_start() -> None:
    own = processes.started(os.getpid())
    assert own is not None and processes.is_alive(os.getpid(), own) and not processes.is_alive(os.getpid(), own + 1)
    child = os.fork()
    if child == 0:
        os._exit(0)
    time.sleep(0.2)
    assert processes.started(child) is None  # it only waits to be reaped
    os.waitpid(child, 0)


def test_the_state_of_a_job_is_that_of_the_list(idle: Session) -> None:
    idle.call("scan_kernel", {"file": "kda_decode.py", "wait_seconds": 0})
    (job,) = list_jobs(idle.database, idle.roots.names)
    assert state_of(idle.database, job.id) == job.state == "queued"
    assert state_of(idle.database, "job_none") is None
