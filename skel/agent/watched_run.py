"""Runs a program whose output and memory are watched: a user's script, while its launches are recorded."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from skel.validation.protocol import Isolation

from .errors import CallError

_LOOK_SECONDS = 0.2


def run_watched(command: Sequence[str], environment: Mapping[str, str], log: Path, numbers: Isolation) -> int:
    """The exit status of `command`, whose output goes to `log`; of long output the last is kept.

    Raises CallError(too_large) where it and all it started hold more memory than a worker may.
    """
    with open(log, "ab") as output:  # appended to, so that it can be cut off while it is written
        process = subprocess.Popen(
            list(command), stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=dict(environment)
        )
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(_LOOK_SECONDS)
            if _resident_megabytes(process.pid) > numbers.resident_megabytes:
                _end(process)
                raise CallError("too_large", what="the memory of the script", limit=f"{numbers.resident_megabytes} MB")
            if log.stat().st_size > numbers.output_bytes:
                os.truncate(log, 0)


def last_of(log: Path, count: int = 1500) -> str:
    """The last of what was printed."""
    with open(log, "rb") as file:
        file.seek(max(0, log.stat().st_size - count))
        return file.read(count).decode(errors="replace")


def _family(pid: int) -> list[psutil.Process]:
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def _resident_megabytes(pid: int) -> float:
    total = 0.0
    for process in _family(pid):
        with contextlib.suppress(psutil.Error):
            total += process.memory_info().rss / 2**20
    return total


def _end(process: subprocess.Popen[bytes]) -> None:
    for one in _family(process.pid):
        with contextlib.suppress(psutil.Error):
            one.kill()
    process.wait()
