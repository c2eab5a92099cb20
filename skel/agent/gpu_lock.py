"""One job at a time on a GPU, whoever asked for it: the lock that measurements of the command line take as well.

A job's own measurement takes a lock in the job's scratch folder, so that it does not wait for the process that did.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from skel.gpu import gpu_names
from skel.validation.timing.lock import open_lock


class GpuLock:
    """Held while a job is done on a machine with a GPU; nothing on one without. Opened before files are given up."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    @classmethod
    def opened(cls) -> GpuLock:
        """The lock of this machine's GPU, not taken yet."""
        return cls(open_lock() if gpu_names() else None)

    @contextmanager
    def held(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Holds the lock; `waiting` is called where somebody else has it."""
        if self._descriptor is None:
            yield
            return
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
