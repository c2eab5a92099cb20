"""Looks after one worker: its clock, its memory, its descendants; ends it and all of them when it goes too far."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass, field

import psutil  # type: ignore[import-untyped]

from .channel import Receiver
from .outcome import Stop


@dataclass(slots=True)
class Watched:
    """One running worker and what is known of it."""

    request_id: int
    pid: int
    channel: int
    """Descriptor its events are read from."""
    receiver: Receiver
    seconds: float
    megabytes: int
    processes: int
    output: str
    """Path of what it prints."""
    output_bytes: int
    started: float = field(default_factory=time.monotonic)
    peak_megabytes: float = 0.0
    stopped: Stop | None = None
    exit_status: int | None = None

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    def look(self) -> None:
        """Ends the worker where it is over a limit."""
        family = self.family()
        resident = 0.0
        threads = 0
        for process in family:
            with contextlib.suppress(psutil.Error):
                resident += process.memory_info().rss / 2**20
                threads += process.num_threads()
        if resident > self.megabytes and len(family) > 1:
            resident = _proportional(family)
        self.peak_megabytes = max(self.peak_megabytes, resident)
        over: Stop | None = None
        if self.elapsed > self.seconds:
            over = "timeout"
        elif threads >= self.processes:
            # `>=`, as the kernel grants no more.
            over = "processes"
        elif resident > self.megabytes:
            over = "memory"
        if over is not None and self.stopped is None:
            self.stopped = over
            self.kill()
        self._trim_output()

    def family(self) -> list[psutil.Process]:
        """The worker and its descendants, where it still runs."""
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.pid)
            return [process, *process.children(recursive=True)]
        return []

    def kill(self) -> None:
        """Ends the worker, its process group and every descendant; repeated, as a fork bomb outruns one pass."""
        for _ in range(5):
            family = self.family()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            for process in family:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            if len(family) <= 1:
                return

    def tail(self, count: int = 4000) -> str:
        """The last of what was printed."""
        with contextlib.suppress(OSError), open(self.output, "rb") as file:
            file.seek(max(0, os.path.getsize(self.output) - count))
            return file.read().decode(errors="replace")
        return ""

    def _trim_output(self) -> None:
        with contextlib.suppress(OSError):
            if os.path.getsize(self.output) > self.output_bytes:
                os.truncate(self.output, 0)


def _proportional(family: list[psutil.Process]) -> float:
    """Megabytes of a family, pages that forks share counted once."""
    total = 0.0
    for process in family:
        with contextlib.suppress(psutil.Error):
            total += process.memory_full_info().pss / 2**20
    return total


def sweep_orphans(keep: set[int]) -> None:
    """Ends whatever workers left behind: processes that became ours and are no worker."""
    for process in psutil.Process().children(recursive=False):
        if process.pid not in keep:
            for member in (*process.children(recursive=True), process):
                with contextlib.suppress(psutil.Error):
                    member.kill()
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)
