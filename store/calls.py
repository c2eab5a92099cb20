"""The audit log: every call an agent made, refused ones too. Append-only."""

import json
from dataclasses import dataclass
from typing import Any

from .canonical import sha256
from .database import Database
from .jobs import now
from .transaction import plain_writing

SHOWN = 2000
"""Characters of a call's arguments that are kept; the hash is of all of them."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of one tool."""

    called_at: str
    """UTC, when it ended."""
    process: int
    """The process that served it."""
    tool: str
    arguments: str
    """As JSON, cut off after `SHOWN` characters."""
    arguments_sha256: str
    outcome: str
    """`ok`, or the code of the error."""
    job: str | None
    """The job it started or asked about."""
    seconds: float


def log_call(
    database: Database, process: int, tool: str, arguments: Any, outcome: str, job: str | None, seconds: float
) -> None:
    """Append one call."""
    words = _words(arguments)
    with plain_writing(database) as connection:
        connection.execute(
            "INSERT INTO calls (called_at, process, tool, arguments, arguments_sha256, outcome, job, seconds) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (now(), process, tool[:64], words[:SHOWN], sha256(words), outcome, job, round(seconds, 4)),
        )


def _words(arguments: Any) -> str:
    """The arguments as text, whatever they are."""
    try:
        return json.dumps(arguments, ensure_ascii=True, sort_keys=True, default=str)
    except (RecursionError, TypeError, ValueError):
        return "what cannot be written as JSON"


def list_calls(database: Database, limit: int = 1000) -> tuple[Call, ...]:
    """The newest calls, newest first."""
    with database.reading() as connection:
        rows = connection.execute(
            "SELECT called_at, process, tool, arguments, arguments_sha256, outcome, job, seconds FROM calls "
            "ORDER BY number DESC LIMIT ?",
            (limit,),
        ).fetchall()
    return tuple(Call(*row) for row in rows)
