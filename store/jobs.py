"""Long work in the database: queued, run by one process each, and readable after any restart."""

import json
import secrets
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from .database import Database
from .transaction import plain_writing

State = Literal["queued", "running", "done", "failed", "cancelled"]
KEPT = 1000
"""Ended jobs that are kept; older ones go when a new one comes. Evidence is never removed."""
_COLUMNS = (
    "id, tool, roots, request, state, progress, result, error, process, process_started, created_at, "
    "started_at, ended_at, number"
)

_Kind = TypeVar("_Kind", list[Any], dict[str, Any])
IsAlive = Callable[[int, float], bool]
"""Whether the process of that id and start time still runs."""


class UnknownJob(LookupError):
    """No job has this id, or it belongs to other roots."""


class QueueFull(Exception):
    """As many jobs wait as may."""

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting} jobs wait")
        self.waiting = waiting


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of long work."""

    id: str
    tool: str
    roots: tuple[str, ...]
    """Folders it may use; only sessions with the same ones see it."""
    request: dict[str, Any]
    state: State
    progress: dict[str, Any] | None
    """The last step it reported: `step`, `done`, `message`."""
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    """`code`, `message` and `hint`, where it failed."""
    process: int | None
    process_started: float | None
    """Start time of that process, in seconds since the epoch: tells it from a later one with its id."""
    created_at: str
    started_at: str | None
    ended_at: str | None
    number: int

    @property
    def is_active(self) -> bool:
        """True while there is no result and one may still come."""
        return self.state in ("queued", "running")


def add_job(database: Database, tool: str, roots: tuple[str, ...], request: dict[str, Any], most_waiting: int) -> Job:
    """Queue a job, or return the one that was asked for with the same words and has not ended.

    Raises QueueFull.
    """
    words = _json(request)
    with plain_writing(database) as connection:
        same = connection.execute(
            f"SELECT {_COLUMNS} FROM jobs WHERE state IN ('queued', 'running') AND tool = ? AND roots = ? "
            "AND request = ?",
            (tool, _json(list(roots)), words),
        ).fetchone()
        if same is not None:
            return _job(same)
        (waiting,) = connection.execute("SELECT count(*) FROM jobs WHERE state = 'queued'").fetchone()
        if waiting >= most_waiting:
            raise QueueFull(waiting)
        connection.execute(
            "DELETE FROM jobs WHERE state NOT IN ('queued', 'running') AND number <= "
            "(SELECT coalesce(max(number), 0) FROM jobs) - ?",
            (KEPT,),
        )
        key = f"job_{secrets.token_hex(8)}"
        connection.execute(
            "INSERT INTO jobs (id, tool, roots, request, state, created_at) VALUES (?, ?, ?, ?, ?, ?)",
            (key, tool, _json(list(roots)), words, "queued", now()),
        )
        return _one(connection, key)


def get_job(database: Database, key: str | None, roots: tuple[str, ...]) -> Job:
    """One job of a session with these roots; the newest where `key` is None. Raises UnknownJob."""
    where, values = ("id = ?", [key]) if key is not None else ("1", [])
    with database.reading() as connection:
        row = connection.execute(
            f"SELECT {_COLUMNS} FROM jobs WHERE {where} AND roots = ? ORDER BY number DESC LIMIT 1",
            (*values, _json(list(roots))),
        ).fetchone()
        found = None if row is None else _job(row)
    if found is None:
        raise UnknownJob(key or "any")
    return found


def list_jobs(database: Database, roots: tuple[str, ...], limit: int = 50) -> tuple[Job, ...]:
    """The newest jobs of sessions with these roots, newest first."""
    with database.reading() as connection:
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM jobs WHERE roots = ? ORDER BY number DESC LIMIT ?", (_json(list(roots)), limit)
        ).fetchall()
        return tuple(map(_job, rows))


def state_of(database: Database, key: str) -> State | None:
    """Where a job stands, whoever asked for it; None where this database has no such job."""
    with database.reading() as connection:
        row = connection.execute("SELECT state FROM jobs WHERE id = ?", (key,)).fetchone()
    return None if row is None else row[0]


def job_text(database: Database, key: str) -> str | None:
    """The rewritten file that a job chose; None where it chose none."""
    with database.reading() as connection:
        row = connection.execute("SELECT text FROM jobs WHERE id = ?", (key,)).fetchone()
    return None if row is None or row[0] is None else str(row[0])


def waiting_and_running(database: Database) -> tuple[int, int]:
    """How many jobs are queued and how many run."""
    with database.reading() as connection:
        counts = dict(connection.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall())
    return int(counts.get("queued", 0)), int(counts.get("running", 0))


def claim_next(database: Database, process: int, started: float, most_running: int, alive: IsAlive) -> Job | None:
    """Take the job that has waited longest, for the process that calls; None where there is none or enough run.

    Jobs whose process is gone are ended first, as failed with the code `job_interrupted`.
    """
    with plain_writing(database) as connection:
        _end_lost(connection, alive)
        (running,) = connection.execute("SELECT count(*) FROM jobs WHERE state = 'running'").fetchone()
        row = connection.execute("SELECT id FROM jobs WHERE state = 'queued' ORDER BY number LIMIT 1").fetchone()
        if row is None or running >= most_running:
            return None
        connection.execute(
            "UPDATE jobs SET state = 'running', process = ?, process_started = ?, started_at = ? WHERE id = ?",
            (process, started, now(), row[0]),
        )
        return _one(connection, row[0])


def end_lost(database: Database, alive: IsAlive) -> int:
    """End the jobs whose process is gone; how many there were."""
    with database.reading() as connection:
        rows = connection.execute("SELECT process, process_started FROM jobs WHERE state = 'running'").fetchall()
    if all(alive(process, started) for process, started in rows):
        return 0
    with plain_writing(database) as connection:
        return _end_lost(connection, alive)


def report_progress(database: Database, key: str, progress: dict[str, Any]) -> None:
    """Say how far a running job is."""
    with plain_writing(database) as connection:
        connection.execute("UPDATE jobs SET progress = ? WHERE id = ? AND state = 'running'", (_json(progress), key))


def end_job(
    database: Database,
    key: str,
    state: Literal["done", "failed", "cancelled"],
    result: dict[str, Any] | None = None,
    text: str | None = None,
    error: dict[str, Any] | None = None,
) -> bool:
    """End a job that has not ended; False where it had: the first end stays."""
    with plain_writing(database) as connection:
        changed = connection.execute(
            "UPDATE jobs SET state = ?, result = ?, text = ?, error = ?, ended_at = ? "
            "WHERE id = ? AND state IN ('queued', 'running')",
            (
                state,
                None if result is None else _json(result),
                text,
                None if error is None else _json(error),
                now(),
                key,
            ),
        )
        return changed.rowcount == 1


def now() -> str:
    """The time in UTC, ISO 8601, so that text order is time order."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _end_lost(connection: sqlite3.Connection, alive: IsAlive) -> int:
    rows = connection.execute("SELECT id, process, process_started FROM jobs WHERE state = 'running'").fetchall()
    lost = [key for key, process, started in rows if not alive(process, started)]
    error = _json({"code": "job_interrupted"})
    connection.executemany(
        "UPDATE jobs SET state = 'failed', error = ?, ended_at = ? WHERE id = ?", [(error, now(), key) for key in lost]
    )
    return len(lost)


def _one(connection: sqlite3.Connection, key: str) -> Job:
    return _job(connection.execute(f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", (key,)).fetchone())


def _job(row: tuple[Any, ...]) -> Job:
    """Raises sqlite3.DatabaseError, which is told as a damaged database, where a row does not hold what was written."""
    key, tool, roots, request, state, progress, result, error, *rest = row
    return Job(
        key,
        tool,
        tuple(map(str, _read(roots, list) or ())),
        _read(request, dict) or {},
        state,
        _read(progress, dict),
        _read(result, dict),
        _read(error, dict),
        *rest,
    )


def _read(text: str | None, kind: type[_Kind]) -> _Kind | None:
    if text is None:
        return None
    try:
        read = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise sqlite3.DatabaseError(f"malformed job: {error}") from error
    if not isinstance(read, kind):
        raise sqlite3.DatabaseError(f"malformed job: a {type(read).__name__} where a {kind.__name__} was written")
    return read


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False)
