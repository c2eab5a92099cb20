"""What was found in a history, kept between runs: one file, written in whole steps, so that a run that was killed goes
on where it stood."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from .git import Change, Commit
from .model import FileEdit

VERSION = 1
"""Raise it when edits are read differently: files of another version are built again."""


class HistoryCache:
    """Commits and file edits of one or more repositories. Use it in a `with`."""

    def __init__(self, path: str | Path) -> None:
        """Opens or makes the file. Raises OSError where that cannot be done."""
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = self._open()
        except sqlite3.DatabaseError:
            self.path.unlink()  # broken or foreign: it is a cache
            self._db = self._open()
        except sqlite3.Error as error:
            raise OSError(f"{self.path}: {error}") from None

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            for table in ("commits", "files"):
                db.execute(f"DROP TABLE IF EXISTS {table}")
            db.execute("CREATE TABLE commits (name TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID")
            db.execute("CREATE TABLE files (key TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID")
            db.execute(f"PRAGMA user_version={VERSION}")
            db.commit()
        return db

    def __enter__(self) -> HistoryCache:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._db.close()

    def commits(self) -> set[str]:
        """Names of the commits that are here with all their files."""
        return {row[0] for row in self._db.execute("SELECT name FROM commits")}

    def files(self) -> set[str]:
        """Keys of the file edits that are here."""
        return {row[0] for row in self._db.execute("SELECT key FROM files")}

    def add(self, commits: Iterable[Commit], files: Iterable[tuple[str, FileEdit]]) -> None:
        """Adds both in one step. Raises OSError where the disk is full."""
        try:
            with self._db:
                self._db.executemany(
                    "INSERT OR REPLACE INTO files VALUES (?, ?)",
                    ((k, zlib.compress(e.model_dump_json(exclude_defaults=True).encode(), 1)) for k, e in files),
                )
                self._db.executemany(
                    "INSERT OR REPLACE INTO commits VALUES (?, ?)", ((c.name, _pack(c)) for c in commits)
                )
        except sqlite3.Error as error:
            raise OSError(f"{self.path}: {error}") from None

    def commit(self, name: str) -> Commit | None:
        """One commit, or None."""
        row = self._db.execute("SELECT content FROM commits WHERE name = ?", (name,)).fetchone()
        return _unpack(name, row[0]) if row else None

    def all_commits(self) -> Iterator[Commit]:
        """Every commit by name."""
        for name, content in self._db.execute("SELECT name, content FROM commits ORDER BY name"):
            yield _unpack(name, content)

    def file(self, key: str) -> FileEdit | None:
        """The edit of one file, or None."""
        row = self._db.execute("SELECT content FROM files WHERE key = ?", (key,)).fetchone()
        return FileEdit.model_validate_json(zlib.decompress(row[0])) if row else None


def file_key(change: Change) -> str:
    """What a file edit is stored under: the same two contents read in the same language give the same edit."""
    suffix = change.path.rsplit(".", 1)[-1]
    return hashlib.sha256(f"{change.before} {change.after} {suffix}".encode()).hexdigest()[:32]


def _pack(commit: Commit) -> bytes:
    content = {
        "parents": commit.parents,
        "time": commit.time,
        "message": commit.message,
        "changes": [[c.path, c.before, c.after, c.old_path] for c in commit.changes],
    }
    return zlib.compress(json.dumps(content).encode(), 1)


def _unpack(name: str, content: bytes) -> Commit:
    read = json.loads(zlib.decompress(content))
    changes = tuple(Change(*c) for c in read["changes"])
    return Commit(name, tuple(read["parents"]), read["time"], read["message"], changes)
