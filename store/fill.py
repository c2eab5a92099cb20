"""Filling the database from the packaged records. The user's own records and all evidence stay."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import delete, select, text
from sqlalchemy.orm import Session

from .evidence import load_evidence, row_of_evidence
from .load import load_all
from .models import EvidenceRow, MetaRow, SkeletonRow
from .packaged import evidence_files
from .records import row_of_skeleton
from .schema.evidence import Evidence
from .schema.skeleton import Skeleton
from .terms import indexed_text


@dataclass(frozen=True, slots=True)
class Contents:
    """What ships with the package."""

    skeletons: tuple[Skeleton, ...]
    evidence: tuple[Evidence, ...]


def read_contents(folder: Path) -> Contents:
    """Load and check everything under `folder`. Raises RecordError."""
    skeletons = load_all(folder)
    evidence = tuple(item for path in evidence_files(folder) for item in load_evidence(path))
    return Contents(skeletons, evidence)


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
    index_all(session)
    session.merge(MetaRow(key="filled_from", value=fingerprint))


def index_all(session: Session) -> None:
    """Write the full-text rows of all records anew."""
    session.execute(text("DELETE FROM search"))
    for row in session.scalars(select(SkeletonRow)):
        index_one(session, row)


def index_one(session: Session, row: SkeletonRow) -> None:
    """Add the full-text row of one record."""
    columns = {"id": row.id, **indexed_text(Skeleton.model_validate_json(row.content))}
    session.execute(text("INSERT INTO search (rowid, name, title, symptoms, tags, summary, applies_if) "
                         "VALUES (:id, :name, :title, :symptoms, :tags, :summary, :applies_if)"), columns)
