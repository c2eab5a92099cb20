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

    def emit(event: str, **fields: Any) -> None:
        line = f"\n{secret} {json.dumps({'event': event, **fields}, default=repr)}\n".encode()
        while line:
            line = line[os.write(descriptor, line) :]

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
            if line.startswith(self._secret):
                events.append(json.loads(line[len(self._secret) :]))
            else:
                self.forged_lines += 1
        return events
