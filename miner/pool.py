"""Work on many files in several processes: results as they come, and an end that leaves no process behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, TypeVar

from .errors import SourceError

Result = TypeVar("Result")
MOST_WORKERS = 8
"""Processes at most: each takes up to 400 MB."""


def workers() -> int:
    """Processors this process may use, up to a limit."""
    have = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(have, MOST_WORKERS))


def in_processes(
    function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], jobs: int | None = None
) -> Iterator[tuple[int, Result]]:
    """`function(*task)` of every task, with its number, in the order in which they end. Put the longest first.

    One process does it here where there is little to do. An exception, or the end of the generator, ends the processes.
    Raises SourceError where one of them is ended from outside, as where memory runs out.
    """
    count = min(jobs or workers(), len(tasks))
    if count <= 1:
        for number, task in enumerate(tasks):
            yield number, function(*task)
        return
    # Started afresh, not forked: the caller may run a thread for its progress bar.
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_quiet)
    try:
        futures: dict[Future[Result], int] = {pool.submit(function, *task): n for n, task in enumerate(tasks)}
        for future in as_completed(futures):
            yield futures.pop(future), future.result()
    except BrokenProcessPool as error:
        raise process_ended() from error
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def process_ended() -> SourceError:
    """What to say of a worker that ended by itself."""
    return SourceError("a process that read files was ended", "this machine",
                       "free some memory and run it again: it goes on", missing=True)  # fmt: skip


def _quiet() -> None:
    """Ctrl-C is for the process that started this one: it ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
