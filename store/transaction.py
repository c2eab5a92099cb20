"""Writing without SQLAlchemy, whose import takes longer than an agent's call may: for jobs, calls and what is mined."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from .connection import connect, faults
from .database import Database


@contextmanager
def plain_writing(database: Database) -> Iterator[sqlite3.Connection]:
    """A connection that holds the write lock, committed at the end, rolled back on an exception. Raises StoreError."""
    with faults(database.path), closing(connect(database.path, create=False)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
