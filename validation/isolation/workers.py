"""The main process's side: starts a warm process, hands it tasks, collects what becomes of them.

Nothing here imports torch or triton.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from ..protocol import Isolation
from .environment import scrubbed
from .outcome import Outcome

Mode = Literal["interpret", "cuda", "compile"]
OnEvent = Callable[[dict[str, Any]], None]


class WorkerError(Exception):
    """The warm process did not start or ended by itself: something is missing here, or a fault of ours."""


class Workers:
    """A warm process and its workers. A context manager; leaving it ends every process and removes the scratch folder.

    Starting does not wait: `ready()` does, and so does the first result.
    """

    def __init__(self, mode: Mode, limits: Isolation | None = None, parallel: int | None = None) -> None:
        self.mode: Mode = mode
        self.limits = limits or Isolation()
        self.scratch = Path(tempfile.mkdtemp(prefix="skel-"))
        self.scratch.chmod(0o755)
        self._ids = itertools.count(1)
        self._futures: dict[int, tuple[Future[Outcome], list[dict[str, Any]], OnEvent | None]] = {}
        self._lock = threading.Lock()
        self._ready: Future[dict[str, Any]] = Future()
        read_end, write_end = os.pipe()
        settings = {
            "mode": mode,
            "watch_seconds": self.limits.watch_seconds,
            "scratch": str(self.scratch),
            "parallel": parallel or (1 if mode == "cuda" else self.limits.parallel),
        }
        (self.scratch / "tmp").mkdir()
        with open(self.scratch / "warm.txt", "wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "skel.validation.isolation.worker", str(write_end), json.dumps(settings)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=(write_end,),
                start_new_session=True,
                cwd=self.scratch,
                env=scrubbed(mode, self.scratch),
            )
        os.close(write_end)
        self._reader = threading.Thread(target=self._read, args=(read_end,), daemon=True)
        self._reader.start()

    def ready(self) -> dict[str, Any]:
        """Waits for the warm process; what it found: versions, whether it is offline and unprivileged.

        Raises WorkerError where it could not start.
        """
        return self._ready.result(self.limits.start_seconds)

    def folder(self, name: str) -> Path:
        """A fresh folder for one worker, with room for temporary files and caches."""
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.scratch))
        for inner in ("tmp", "cache"):
            (folder / inner).mkdir()
        return folder

    def submit(
        self,
        task: str,
        payload: dict[str, Any],
        *,
        folder: Path,
        seconds: float,
        writable: tuple[Path, ...] = (),
        subject_file: str | None = None,
        trusted: bool = False,
        on_event: OnEvent | None = None,
    ) -> Future[Outcome]:
        """Queues one task for a worker of its own; its folder is `folder`, and it may also write in `writable`.

        `trusted` tasks run no code but ours and keep their user, so that they can read what other workers wrote.

        The future's result is an Outcome whatever the worker did; it raises WorkerError only where the warm process
        itself is gone.
        """
        future: Future[Outcome] = Future()
        number = next(self._ids)
        request = {
            "id": number,
            "task": task,
            "payload": payload,
            "scratch": str(folder),
            "writable": [str(p) for p in writable],
            "subject_file": subject_file,
            "trusted": trusted,
            "seconds": seconds,
            "megabytes": self.limits.resident_megabytes,
            "processes": self.limits.processes,
            "file_bytes": self.limits.file_bytes,
            "output_bytes": self.limits.output_bytes,
        }
        assert self._process.stdin is not None
        try:
            with self._lock:
                self._futures[number] = (future, [], on_event)
                self._process.stdin.write((json.dumps(request) + "\n").encode())
                self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            self._fail(self._gone())
        return future

    def close(self) -> None:
        """Ends every worker and removes the scratch folder. May be called twice."""
        if self._process.poll() is None:
            assert self._process.stdin is not None
            try:
                self._process.stdin.close()
            except BrokenPipeError:
                pass
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._reader.join(5)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, descriptor: int) -> None:
        with open(descriptor, encoding="utf-8") as lines:
            for line in lines:
                try:
                    self._take(json.loads(line))
                except Exception as error:
                    self._fail(WorkerError(f"what a worker sent could not be taken: {error!r}"))
                    return
        self._fail(self._gone())

    def _take(self, message: dict[str, Any]) -> None:
        if "ready" in message:
            self._ready.set_result(message["ready"])
        elif "missing" in message:
            self._fail(WorkerError(message["missing"]))
        elif "event" in message:
            _, events, on_event = self._futures[message["id"]]
            events.append(message["event"])
            if on_event is not None:
                on_event(message["event"])
        else:
            with self._lock:
                future, events, _ = self._futures.pop(message["id"])
            future.set_result(Outcome(events=tuple(events), **message["ended"]))

    def _gone(self) -> WorkerError:
        log = self.scratch / "warm.txt"
        tail = log.read_text(errors="replace")[-2000:] if log.exists() else ""
        return WorkerError(f"the process that runs candidates ended by itself: {tail.strip() or 'it left no message'}")

    def _fail(self, error: WorkerError) -> None:
        if not self._ready.done():
            self._ready.set_exception(error)
        with self._lock:
            pending, self._futures = list(self._futures.values()), {}
        for future, _, _ in pending:
            future.set_exception(error)
