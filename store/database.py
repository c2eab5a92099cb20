"""Opening the database: created, migrated and filled from the packaged skeletons where that is needed."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from . import migrate
from .connection import (
    APPLICATION_ID,
    BUSY_SECONDS,
    as_store_error,
    check_header,
    check_owner,
    connect,
    faults,
    reading,
)
from .errors import InaccessibleError, StoreError
from .location import fallback_path, locate, make_parent
from .packaged import fingerprint, packaged_folder
from .synonyms import version
from .terms import ANALYSIS_VERSION

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.orm import Session


@dataclass(frozen=True, slots=True)
class Database:
    """A store that is ready for use. Holds no connection, so it may be shared between threads and processes."""

    path: Path
    warnings: tuple[str, ...] = ()
    """What a user should be told, for example that another place is used than usual."""

    @property
    def url(self) -> str:
        """The URL that opens this database again."""
        return f"sqlite:///{self.path}"

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """A plain connection on one snapshot, for reading (SQLAlchemy is not imported). Raises StoreError."""
        return reading(self.path)

    @contextmanager
    def writing(self) -> Iterator["Session"]:
        """A session that holds the write lock, committed at the end; writers queue. Raises StoreError."""
        from sqlalchemy.exc import DBAPIError
        from sqlalchemy.orm import Session

        try:
            with faults(self.path), Session(_engine(self.path)) as session, session.begin():
                session.connection()  # takes the lock now, not at the first statement
                yield session
        except DBAPIError as error:
            raise as_store_error(error.orig or error, self.path) from error


def open_database(url: str | None = None, folder: Path | None = None) -> Database:
    """The store at `url`, else at `SKEL_DB`, else in the user's data folder.

    A missing database is created, an older one migrated, one filled from other packaged records refilled; the
    user's own records and all evidence stay. `folder` holds the records in place of the packaged ones. Where the
    default place cannot be written, one in the temporary folder is used, with a warning.

    Raises StoreError (a folder that does not exist; a file that is no store, damaged, newer, busy, or out of reach, and
    such a file is left as it is) and RecordError (a packaged record is faulty).
    """
    location = locate(url)
    try:
        return _open(location.path, folder or packaged_folder(), location.chosen)
    except InaccessibleError as error:
        if location.chosen:
            raise
        warning = f"{error.where}: {error.what}; using"
    database = _open(fallback_path(), folder or packaged_folder(), chosen=False)
    return replace(database, warnings=(f"{warning} {database.path} for now",))


def _open(path: Path, folder: Path, chosen: bool) -> Database:
    wanted = f"{ANALYSIS_VERSION}:{version()}:{fingerprint(folder)}"
    check_header(path)
    if path.exists():
        with faults(path), closing(connect(path, create=False)) as connection:
            check_owner(connection, path)
            if migrate.is_current(connection, path) and _filled_from(connection) == wanted:
                return Database(path)
    make_parent(path, chosen)
    _prepare(Database(path), folder, wanted)
    return Database(path)


def _prepare(database: Database, folder: Path, wanted: str) -> None:
    """Create, migrate and refill in one transaction: another process sees all of it or nothing."""
    from . import fill

    contents = fill.read_contents(folder)
    _use_wal(database.path)
    with database.writing() as session:
        raw = fill.raw(session)
        # Another process may have come first while this one waited for the lock.
        check_owner(raw, database.path)
        _check_sound(raw, database.path)
        if not migrate.is_current(raw, database.path):
            raw.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            migrate.upgrade(session.connection())
        if _filled_from(raw) != wanted:
            fill.fill(session, contents, wanted)


def _use_wal(path: Path) -> None:
    """Readers never wait for writers. Two processes that switch a new file at once may collide: try again."""
    deadline = time.monotonic() + BUSY_SECONDS
    with faults(path), closing(connect(path)) as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


def _check_sound(connection: sqlite3.Connection, path: Path) -> None:
    (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise StoreError(f"the database is damaged ({result})", path,
                         "move it away and run again to build a new one, or give another with --db")


def _filled_from(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE key = 'filled_from'").fetchone()
    return str(row[0]) if row else None


@lru_cache(maxsize=8)
def _engine(path: Path) -> "Engine":
    """An engine whose every transaction takes the write lock at once, so that no writer fails half-way."""
    from sqlalchemy import URL, Connection, NullPool, create_engine, event

    engine = create_engine(URL.create("sqlite", database=str(path)), creator=lambda: connect(path), poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine
