"""Work in pieces by several processes, each of which ends after some pieces and is followed by a new one.

`ProcessPoolExecutor` can do that too (`max_tasks_per_child`), and waits for ever when all its processes have ended
after pieces that were handed in at once (https://github.com/python/cpython/issues/115634).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from queue import Empty, SimpleQueue
from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def in_processes(
    do: Callable[[Piece], Result], pieces: Iterable[Piece], jobs: int, each: int
) -> Iterator[tuple[Piece, Result | Exception]]:
    """What `do` gives for each piece as it comes, by `jobs` processes that end after `each` pieces. A piece that raises
    or ends its process gives the exception; the others go on."""
    waiting: SimpleQueue[Piece] = SimpleQueue()
    done: SimpleQueue[tuple[Piece, Result | Exception]] = SimpleQueue()
    count = 0
    for piece in pieces:
        waiting.put(piece)
        count += 1

    def one_after_another() -> None:
        while not waiting.empty():
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                for _ in range(each):
                    try:
                        piece = waiting.get_nowait()
                    except Empty:
                        return
                    try:
                        done.put((piece, pool.submit(do, piece).result()))
                    except Exception as error:
                        done.put((piece, error))
                        break

    for _ in range(min(jobs, count)):
        threading.Thread(target=one_after_another, daemon=True).start()
    for _ in range(count):
        yield done.get()
