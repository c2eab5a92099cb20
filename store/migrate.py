"""Bringing a database to the newest schema. Alembic is imported only when there is something to do."""

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import StoreError

if TYPE_CHECKING:
    from sqlalchemy import Connection

_FOLDER = Path(__file__).parent / "migrations"


def known_revisions() -> tuple[str, ...]:
    """The revisions that this version of skel knows, oldest first (files are named by their revision)."""
    return tuple(sorted(path.name.partition("_")[0] for path in (_FOLDER / "versions").glob("[0-9]*_*.py")))


def revision_of(connection: sqlite3.Connection) -> str | None:
    """The schema revision of a database, None where it has no schema yet."""
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone() if found else None
    return str(row[0]) if row else None


def is_current(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the schema is the newest. Raises StoreError where it is newer than this version of skel."""
    revision, known = revision_of(connection), known_revisions()
    if revision is not None and revision not in known:
        raise StoreError(f"its schema ({revision}) is newer than this version of skel knows ({known[-1]})", path,
                         "update skel, or give another database with --db")
    return revision == known[-1]


def upgrade(connection: "Connection") -> None:
    """Run the missing migrations inside the transaction that `connection` has begun."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
