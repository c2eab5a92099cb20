"""The warm process: `python -m skel.validation.isolation.worker`. Imports torch and triton once, forks a worker a task.

It never loads code of a candidate, so a fork of it is as clean as a fresh process and two seconds cheaper. It reads
requests as JSON lines on standard input and answers with JSON lines on the descriptor given as its argument. When its
input ends, it ends all its workers and itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import selectors
import shutil
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import limits
from .channel import Receiver
from .child import run_child
from .tasks import warm
from .watch import Watched, sweep_orphans

_LOOK_SECONDS = 0.2
"""How often a warm process looks, while it imports, whether anybody is still there."""


class WarmProcess:
    """The loop of the warm process: requests in, forks, events and outcomes out."""

    def __init__(self, answers: int, settings: dict[str, Any]) -> None:
        self._answers = answers
        self._settings = settings
        self._waiting: deque[dict[str, Any]] = deque()
        self._running: dict[int, Watched] = {}
        self._selector = selectors.DefaultSelector()
        self._input = b""
        self._next_user = os.getpid() % limits.UNPRIVILEGED_USERS
        self._open = True

    def serve(self) -> None:
        """Runs until the input ends."""
        os.set_blocking(0, False)
        self._selector.register(0, selectors.EVENT_READ, None)
        watched_at = 0.0
        while self._open:
            for key, _ in self._selector.select(self._settings["watch_seconds"] if self._running else None):
                self._read_requests() if key.fd == 0 else self._read_events(key.data)
            if time.monotonic() - watched_at >= self._settings["watch_seconds"]:
                watched_at = time.monotonic()
                for worker in list(self._running.values()):
                    worker.look()
            self._reap()
            while self._waiting and len(self._running) < self._settings["parallel"]:
                self._start(self._waiting.popleft())

    def stop(self) -> None:
        """Ends every worker and removes what they wrote, also where the main process is gone already."""
        for worker in self._running.values():
            worker.kill()
        sweep_orphans(set())
        shutil.rmtree(self._settings["scratch"], ignore_errors=True)

    def answer(self, **message: Any) -> None:
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(self._answers, data) :]

    def _read_requests(self) -> None:
        data = os.read(0, 1 << 20)
        self._open = bool(data)
        *lines, self._input = (self._input + data).split(b"\n")
        for request in (json.loads(line) for line in lines if line):
            # Comparisons first: a verdict is of more use than another candidate's tensors.
            self._waiting.appendleft(request) if request["trusted"] else self._waiting.append(request)

    def _read_events(self, worker: Watched) -> None:
        data = os.read(worker.channel, 1 << 20)
        for event in worker.receiver.feed(data):
            self.answer(id=worker.request_id, event=event)
        if not data:
            self._selector.unregister(worker.channel)

    def _start(self, request: dict[str, Any]) -> None:
        user = self._user_for(request)
        read_end, write_end = os.pipe()
        secret = secrets.token_hex(16)
        pid = os.fork()
        if pid == 0:
            os.close(read_end)
            os.close(self._answers)
            for other in self._running.values():
                os.close(other.channel)
            self._selector.close()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            run_child(request | {"user": user, "privileges": self._settings["privileges"]}, write_end, secret)
        os.close(write_end)
        worker = Watched(
            request["id"],
            pid,
            read_end,
            Receiver(secret),
            request["seconds"],
            request["megabytes"],
            request["processes"],
            str(Path(request["scratch"]) / "output.txt"),
            request["output_bytes"],
        )
        self._running[pid] = worker
        self._selector.register(read_end, selectors.EVENT_READ, worker)

    def _user_for(self, request: dict[str, Any]) -> int | None:
        """A user of its own for the worker where we are root; the folders it writes are handed to it."""
        if request["trusted"] or self._settings["privileges"] == "kept":
            return None
        self._next_user = (self._next_user + 1) % limits.UNPRIVILEGED_USERS
        user = limits.FIRST_UNPRIVILEGED_USER + self._next_user
        try:
            for path in (request["scratch"], *request.get("writable", ())):
                for folder, _, files in os.walk(path):
                    os.chown(folder, user, user)
                    for name in files:
                        os.chown(os.path.join(folder, name), user, user, follow_symlinks=False)
        except OSError:
            return None
        return user

    def _reap(self) -> None:
        ended = False
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if worker := self._running.pop(pid, None):
                ended = True
                worker.exit_status = os.waitstatus_to_exitcode(status)
                worker.kill()
                self._finish(worker)
        if ended:
            sweep_orphans(set(self._running))

    def _finish(self, worker: Watched) -> None:
        os.set_blocking(worker.channel, False)
        with contextlib.suppress(BlockingIOError):
            while data := os.read(worker.channel, 1 << 20):
                for event in worker.receiver.feed(data):
                    self.answer(id=worker.request_id, event=event)
        with contextlib.suppress(KeyError):
            self._selector.unregister(worker.channel)
        os.close(worker.channel)
        self.answer(
            id=worker.request_id,
            ended={
                "exit_status": worker.exit_status,
                "stopped": worker.stopped,
                "output_tail": worker.tail(),
                "seconds": round(worker.elapsed, 3),
                "resident_megabytes": round(worker.peak_megabytes, 1),
                "forged_lines": worker.receiver.forged_lines,
                "limits": {"seconds": worker.seconds, "megabytes": worker.megabytes, "processes": worker.processes},
            },
        )


def main() -> None:
    """Reads its settings from the command line, warms up, serves."""
    answers = int(sys.argv[1])
    settings = json.loads(sys.argv[2])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limits.adopt_orphans()
    offline = limits.leave_network()
    process = WarmProcess(answers, settings)
    try:
        if _warm_up(process, settings, offline):
            process.serve()
    except BrokenPipeError:
        pass  # the main process is gone: nobody waits for an answer
    finally:
        process.stop()


@contextlib.contextmanager
def _ended_with_its_input(process: WarmProcess) -> Iterator[None]:
    """Within: the process ends as soon as its input does. Imports take seconds, in which nobody reads it."""
    poll = select.poll()
    poll.register(0, select.POLLHUP)

    def look(*_: object) -> None:
        if poll.poll(0):
            process.stop()
            os._exit(0)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_SECONDS, _LOOK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _warm_up(process: WarmProcess, settings: dict[str, Any], offline: bool) -> bool:
    """Imports what workers need and says so. False where it is missing here."""
    try:
        with _ended_with_its_input(process):
            import torch
            import triton
            import triton.language

            warm(settings["mode"])
    except ImportError as error:
        process.answer(missing=str(error))
        return False
    torch.set_num_threads(1)
    settings["privileges"] = limits.possible_privileges(
        Path(os.__file__), Path(torch.__file__), Path(__file__), Path(settings["scratch"])
    )
    process.answer(
        ready={
            "torch": torch.__version__,
            "triton": triton.__version__,
            "python": sys.version.split()[0],
            "offline": offline,
            "privileges": settings["privileges"],
            "mode": settings["mode"],
        }
    )
    return True


if __name__ == "__main__":
    main()
