"""The line a worker reports over: a pipe the candidate is not told of, every line opened by a secret.

Printing to stdout or writing to a guessed file descriptor forges nothing: a line without the secret is dropped, and
counted. What a candidate *computed* is not taken from here but from the tensors it left, judged elsewhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

Emit = Callable[..., None]
"""`emit("event name", field=value, ...)`."""


def sender(descriptor: int, secret: str) -> Emit:
    """The worker's end. Values must be JSON; what is not is written as its `repr`."""

    # Held from before a candidate is loaded: what it puts in the place of `json` or `os` changes no report.
    encode, write = json.JSONEncoder(default=repr).encode, os.write

    def emit(event: str, **fields: Any) -> None:
        line = f"\n{secret} {encode({'event': event, **fields})}\n".encode()
        while line:
            line = line[write(descriptor, line) :]

    return emit


class Receiver:
    """The warm process's end: bytes in, events out."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode() + b" "
        self._rest = b""
        self.forged_lines = 0

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """The events completed by `data`."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        events = []
        for line in filter(None, lines):
            event = _event(line[len(self._secret) :]) if line.startswith(self._secret) else None
            if event is None:
                self.forged_lines += 1
            else:
                events.append(event)
        return events


def _event(text: bytes) -> dict[str, Any] | None:
    """None for what is no event: one bad line ends nothing."""
    try:
        event = json.loads(text)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None
