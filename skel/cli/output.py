"""Where output goes: the result on stdout (a JSON document or text), everything else on stderr."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any, TextIO

from skel.plain import plain

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 200
"""Columns of a table that does not go to a terminal."""
SLOW_SECONDS = 2.0
"""Work that takes longer says on stderr what it is doing."""


_reserved: list[TextIO] = []


@contextmanager
def stdout_reserved() -> Iterator[TextIO]:
    """Keeps stdout for `emit` alone: whatever libraries print in between goes to stderr."""
    _reserved.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield _reserved[-1]
    finally:
        _reserved.pop()


def emit(document: Any, as_json: bool, render: Callable[[Console], None]) -> None:
    """Print the result: `document` as JSON, or what `render` prints for a person."""
    stream = _reserved[-1] if _reserved else sys.stdout
    if as_json:
        write_json(document, stream)
    else:
        render(console(stream))


def write_json(document: Any, stream: TextIO) -> None:
    """One JSON document and a newline. Records are dumped with their fields; NaN and infinities become strings."""
    stream.write(json.dumps(plain(document), ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    stream.flush()


def console(stream: TextIO) -> Console:
    """A console on `stream`: coloured and as wide as the terminal, or plain and wide in a pipe."""
    from rich.console import Console

    return Console(file=stream, width=None if stream.isatty() else PIPE_WIDTH, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """One line on stderr."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def working(doing: str) -> Iterator[Callable[[str, dict[str, Any]], None]]:
    """Says on stderr what is being done once it has taken `SLOW_SECONDS`: a spinner on a terminal, else lines.

    Hands out a function that is told each step; from then on every step is shown as well.
    """
    begun = time.monotonic()
    if not sys.stderr.isatty():
        timer = threading.Timer(SLOW_SECONDS, say, [f"{doing} ..."])
        timer.daemon = True
        timer.start()

        def tell(step: str, figures: dict[str, Any]) -> None:
            if time.monotonic() - begun >= SLOW_SECONDS:
                say(f"  {_step(step, figures)}")

        try:
            yield tell
        finally:
            timer.cancel()
        return
    from rich.status import Status

    status = Status(f"{doing} ...", console=console(sys.stderr))
    timer = threading.Timer(SLOW_SECONDS, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda step, figures: status.update(f"{doing}: {_plain_markup(_step(step, figures))}")
    finally:
        timer.cancel()
        timer.join()
        status.stop()


def _step(step: str, figures: dict[str, Any]) -> str:
    said = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in figures.items() if value is not None)
    return f"{step.replace('_', ' ')}: {said}" if said else step.replace("_", " ")


def _plain_markup(text: str) -> str:
    from rich.markup import escape

    return escape(text)
