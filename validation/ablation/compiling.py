"""Compiles launches in forked processes, so that the compiler's cache holds them before they are made.

A child compiles for the GPU that its parent uses with a stand-in for the driver: it makes no call to CUDA, which could
not be used after a fork.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Sequence
from pathlib import Path

from ..compile.stub_driver import install
from ..timing.recording import Launch

STUCK = 45.0
"""Seconds in which none of a batch came to its end, after which the rest is given up: a fork can lock itself out."""


def compile_ahead(launches: Sequence[Launch], slots: Path, count: int, target: str | None, deadline: float) -> None:
    """Compiles them, several at a time; one that does not compile is found out when it is made.

    `count` is how many compile at a time, those of other processes with the same folder `slots` counted in. `target`
    names the GPU; without one nothing is compiled. Children that outlive `deadline` (of `time.monotonic`) are ended.
    """
    if target is None or not launches:
        return
    running = {_compiling(launch, slots, count, target, number) for number, launch in enumerate(launches)}
    last = time.monotonic()
    while running:
        ended, _ = os.waitpid(-1, os.WNOHANG)
        if ended:
            running.discard(ended)
            last = time.monotonic()
        elif time.monotonic() > min(deadline, last + STUCK):
            for child in running:
                os.kill(child, 9)
            last = time.monotonic()
        else:
            time.sleep(0.02)


def _compiling(launch: Launch, slots: Path, count: int, target: str, number: int) -> int:
    """A child that compiles one launch; its number."""
    child = os.fork()
    if child:
        return child
    try:
        # The first slot that is free, else in turn behind another.
        if not any(_locked(slots / str(slot), wait=False) for slot in range(count)):
            _locked(slots / str((number + os.getppid()) % count), wait=True)
        install(target)
        launch.function.run(*launch.arguments, grid=launch.grid, warmup=True, **launch.options)
    finally:
        # Without the interpreter's end, which would tear down a CUDA context that is the parent's.
        os._exit(0)


def _locked(path: Path, *, wait: bool) -> bool:
    """True where the file is now locked, for as long as this process lives; False where another has it."""
    file = os.open(path, os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(file)
        return False
    return True
