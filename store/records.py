"""Reading and adding skeleton records in the database."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .connection import check_content
from .database import Database
from .errors import StoreError, UnknownSkeleton

if TYPE_CHECKING:
    from .models import SkeletonRow
    from .schema.skeleton import Skeleton


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of a list of records."""

    name: str
    title: str
    kind: str
    purpose: str
    advice: bool
    """True where there is nothing to apply."""
    origin: str
    """`packaged` or `user`."""


def list_skeletons(database: Database) -> tuple[Listed, ...]:
    """Every record, sorted by name."""
    with database.reading() as connection:
        rows = connection.execute(
            "SELECT name, title, kind, purpose, advice, origin FROM skeletons ORDER BY name").fetchall()
    return tuple(Listed(name, title, kind, purpose, bool(advice), origin)
                 for name, title, kind, purpose, advice, origin in rows)


def get_skeleton(database: Database, name: str) -> "Skeleton":
    """One record. Raises UnknownSkeleton, with names that look like it, and StoreError where it is damaged."""
    from .schema.skeleton import Skeleton

    with database.reading() as connection:
        row = connection.execute("SELECT content, content_sha256 FROM skeletons WHERE name = ?",
                                 (name,)).fetchone()
    if row is None:
        raise unknown(database, name)
    return Skeleton.model_validate_json(check_content(row[0], row[1], database.path))


def unknown(database: Database, name: str) -> UnknownSkeleton:
    """The error for a name that no record has."""
    import difflib

    names = [listed.name for listed in list_skeletons(database)]
    wanted = name.lower().replace("-", "_").replace(" ", "_")
    return UnknownSkeleton(name, tuple(difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)))


def add_skeleton(database: Database, skeleton: "Skeleton") -> None:
    """Add a user's record, or replace the user's record of that name; search finds it at once.

    Raises StoreError where the package ships a record of that name.
    """
    from sqlalchemy import select

    from .fill import raw
    from .indexing import forget_one, index_one
    from .models import SkeletonRow

    with database.writing() as session:
        old = session.scalar(select(SkeletonRow).where(SkeletonRow.name == skeleton.name))
        if old is not None and old.origin == "packaged":
            raise StoreError(f"skel ships a skeleton named {skeleton.name!r}", database.path, "choose another name")
        if old is not None:
            forget_one(raw(session), old.id)
            session.delete(old)
            session.flush()
        row = row_of_skeleton(skeleton, "user")
        session.add(row)
        session.flush()
        index_one(raw(session), row.id, row.content)


def row_of_skeleton(skeleton: "Skeleton", origin: str) -> "SkeletonRow":
    """The database row of a record."""
    from .canonical import canonical_json, sha256
    from .models import SkeletonRow

    content = canonical_json(skeleton)
    return SkeletonRow(name=skeleton.name, origin=origin, title=skeleton.title, kind=skeleton.kind.value,
                       purpose=skeleton.purpose.value, advice=skeleton.is_advice, content=content,
                       content_sha256=sha256(content))
