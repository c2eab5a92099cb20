"""What comes in over stdin, line by line. The SDK drops a line that is no message, and its sender waits for an answer
that never comes: here such a line becomes a message that is answered with an error."""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
from typing import BinaryIO

LINE_BYTES = 32 << 20
"""Longest line that is read; the tools take far less."""
UNREADABLE = "unreadable_line"
"""The method that stands for a line which cannot be read: there is none of this name, and so the answer says."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ID = re.compile(rb'"id"\s*:\s*(\d{1,15}|"[\x20-\x7e]{0,100}?")')
_LOOKED_AT = 4096
"""Bytes of such a line in which its id is looked for."""


def mended(line: bytes) -> bytes | None:
    """A line that can be read: as it is; with half surrogate pairs, which models write where they cut a text off,
    replaced by U+FFFD; or as a call of `UNREADABLE` with the id that it seems to have. None where it has none."""
    from pydantic_core import from_json

    if len(line) <= LINE_BYTES:
        with contextlib.suppress(ValueError):
            from_json(line)
            return line
        with contextlib.suppress(ValueError, RecursionError):
            whole = _SURROGATE.sub("\ufffd", json.dumps(json.loads(line), ensure_ascii=False)).encode() + b"\n"
            from_json(whole)
            return whole
    found = _ID.search(line[:_LOOKED_AT])
    if found is None:
        return None
    return b'{"jsonrpc":"2.0","id":' + found[1] + b',"method":"' + UNREADABLE.encode() + b'"}\n'


def mend_stdin() -> None:
    """From now on descriptor 0 gives the lines of stdin as `mended` leaves them, until stdin ends."""
    reading, writing = os.pipe()
    source = os.fdopen(os.dup(0), "rb")
    os.dup2(reading, 0)
    os.close(reading)
    threading.Thread(target=_copy, args=(source, os.fdopen(writing, "wb")), daemon=True).start()


def _copy(source: BinaryIO, target: BinaryIO) -> None:
    with contextlib.suppress(OSError), source, target:
        while line := source.readline(LINE_BYTES + 1):
            end = line
            while len(line) > LINE_BYTES and end and not end.endswith(b"\n"):
                end = source.readline(LINE_BYTES)
            if (whole := mended(line)) is not None:
                target.write(whole)
                target.flush()
