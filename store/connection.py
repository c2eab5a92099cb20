"""Plain SQLite connections to a file that is ours, with faults turned into StoreError."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from .errors import InaccessibleError, StoreError

APPLICATION_ID = 0x534B454C
"""Written into the file's header (`SKEL`): tells our databases from other programs' SQLite files."""
BUSY_SECONDS = 30.0
"""How long a writer waits for the one before it."""

_MAGIC = b"SQLite format 3\0"
_KEEP = "move it away and run again to build a new one, or give another with --db; skel never overwrites it"
_ELSEWHERE = "make it writable, or give another with --db"


def check_header(path: Path) -> None:
    """Raise StoreError where a file lies at `path` that is no SQLite database. An empty or absent file is fine."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
    except FileNotFoundError:
        return
    except OSError as error:
        raise InaccessibleError(f"cannot be read ({error.strerror or error})", path,
                                "give another database with --db") from error
    if start and start != _MAGIC:
        raise StoreError("is no SQLite database, or a damaged one", path, _KEEP)


def check_owner(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError where the file is another program's database."""
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    if owner == APPLICATION_ID:
        return
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if owner or tables:
        raise StoreError("is an SQLite database of another program", path, _KEEP)


def connect(path: Path, create: bool = True) -> sqlite3.Connection:
    """A connection in autocommit mode: transactions are begun and ended explicitly."""
    target = f"file:{quote(str(path))}?mode={'rwc' if create else 'rw'}"
    return sqlite3.connect(target, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write, holding one snapshot. Raises StoreError where the file cannot be read."""
    with faults(path), closing(connect(path, create=False)) as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        yield connection
        connection.execute("COMMIT")


def check_content(content: str, sha256: str, path: Path) -> str:
    """`content`, if it is what was stored. Raises StoreError: a damaged file may still be read without an error."""
    if hashlib.sha256(content.encode()).hexdigest() != sha256:
        raise StoreError("the database is damaged (a record is not what was stored)", path, _KEEP)
    return content


@contextmanager
def faults(path: Path) -> Iterator[None]:
    """Turn SQLite's errors on the file at `path` into StoreError."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise as_store_error(error, path) from error


def as_store_error(error: BaseException, path: Path) -> StoreError:
    """What an SQLite error means, and what to do about it."""
    text = str(error)
    for sign, kind, what, hint in _MEANINGS:
        if sign in text:
            return kind(f"{what} ({text})", path, hint)
    return StoreError(f"the database cannot be used ({text})", path, _KEEP)


_MEANINGS: tuple[tuple[str, type[StoreError], str, str], ...] = (
    ("malformed", StoreError, "the database is damaged", _KEEP),
    ("not a database", StoreError, "the database is damaged", _KEEP),
    ("no such table", StoreError, "the database is damaged", _KEEP),
    ("no such column", StoreError, "the database is damaged", _KEEP),
    ("decode", StoreError, "the database is damaged", _KEEP),
    ("disk I/O error", StoreError, "the disk failed", "look at the disk, or give another database with --db"),
    ("disk is full", StoreError, "the disk is full", "free some space, or give another database with --db"),
    ("locked", StoreError, f"another process has been writing for over {BUSY_SECONDS:.0f} s",
     "end that process, or try again"),
    ("readonly", InaccessibleError, "the database cannot be written", _ELSEWHERE),
    ("unable to open", InaccessibleError, "the database cannot be opened", _ELSEWHERE),
    ("no such module: fts5", StoreError, "this Python's SQLite has no full-text search",
     "use a Python whose sqlite3 has FTS5"),
    ("append-only", StoreError, "evidence is append-only", "add new evidence instead"),
)
