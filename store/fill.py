"""Filling the database from the packaged records. The user's own records and all evidence stay."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from .embedding.shipped import shipped
from .evidence import load_evidence, row_of_evidence
from .indexing import index_all
from .load import load_all
from .models import EvidenceRow, MetaRow, SkeletonRow
from .packaged import evidence_files
from .records import row_of_skeleton
from .schema.evidence import Evidence
from .schema.skeleton import Skeleton


@dataclass(frozen=True, slots=True)
class Contents:
    """What ships with the package."""

    skeletons: tuple[Skeleton, ...]
    evidence: tuple[Evidence, ...]
    vectors: dict[str, bytes]
    """Vectors made beforehand, by the hash of their texts."""


def read_contents(folder: Path) -> Contents:
    """Load and check everything under `folder`. Raises RecordError."""
    skeletons = load_all(folder)
    evidence = tuple(item for path in evidence_files(folder) for item in load_evidence(path))
    return Contents(skeletons, evidence, shipped(folder))


def fill(session: Session, contents: Contents, fingerprint: str) -> None:
    """Make the packaged records those of `contents`, add its evidence, and index everything anew.

    A user's record keeps its name even where the package now ships one of that name.
    """
    own = set(session.scalars(select(SkeletonRow.name).where(SkeletonRow.origin == "user")))
    session.execute(delete(SkeletonRow).where(SkeletonRow.origin == "packaged"))
    session.add_all(row_of_skeleton(item, "packaged") for item in contents.skeletons if item.name not in own)
    session.flush()
    have = set(session.scalars(select(EvidenceRow.id)))
    rows = {row.id: row for row in map(row_of_evidence, contents.evidence)}
    session.add_all(row for key, row in rows.items() if key not in have)
    index_all(raw(session), contents.vectors)
    session.merge(MetaRow(key="filled_from", value=fingerprint))


def raw(session: Session) -> sqlite3.Connection:
    """The SQLite connection under a session, in the same transaction."""
    session.flush()
    connection = session.connection().connection.driver_connection
    if not isinstance(connection, sqlite3.Connection):
        raise TypeError(f"expected an sqlite3 connection, got {type(connection)}")
    return connection
