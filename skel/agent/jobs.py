"""Starting jobs: each in a process of its own, which lives on when the one that asked is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from skel.gpu import gpu_names
from skel.store.jobs import QueueFull, add_job, end_lost, waiting_and_running
from skel.validation.isolation.environment import package_root

from .errors import CallError
from .limits import LIMITS, LOOK_SECONDS
from .processes import is_alive

if TYPE_CHECKING:
    from skel.store.database import Database


class Dispatcher:
    """Queues jobs and sees that somebody works on them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._started: list[subprocess.Popen[bytes]] = []
        self._looked = 0.0

    def submit(self, tool: str, roots: tuple[str, ...], request: dict[str, Any]) -> str:
        """Queue a job and return its id; the same request that still waits or runs is not queued twice.

        Raises CallError(queue_full).
        """
        try:
            job = add_job(self._database, tool, roots, request, LIMITS.waiting_jobs)
        except QueueFull as full:
            raise CallError("queue_full", waiting=full.waiting) from full
        self._looked = 0.0
        self.look_after()
        return job.id

    def look_after(self) -> None:
        """End jobs whose process is gone, and start a process where jobs wait and fewer run than may."""
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        end_lost(self._database, is_alive)
        waiting, running = waiting_and_running(self._database)
        with self._lock:
            self._started = [process for process in self._started if process.poll() is None]
            if waiting and max(running, len(self._started)) < most_at_a_time():
                self._started.append(start_runner(self._database.url))


def most_at_a_time() -> int:
    """Jobs that may run at a time: on a GPU one, since another would disturb what is timed."""
    return 1 if gpu_names() else LIMITS.running_jobs


def start_runner(url: str) -> subprocess.Popen[bytes]:
    """Start the process that takes the next job. It leads its own session, so that it outlives this one."""
    path = os.pathsep.join(filter(None, (str(package_root()), os.environ.get("PYTHONPATH", ""))))
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "skel.agent.runner", url],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
    )
