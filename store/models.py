"""The tables. Everything a reader needs of a record is in its `content`, the record as canonical JSON.

The full-text table `search` is no model: SQLite's FTS5 owns it (see the migrations and `fulltext`).
"""

from sqlalchemy import Boolean, CheckConstraint, Index, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The declarative base of all tables."""


class MetaRow(Base):
    """What the database knows of itself, for example the fingerprint of the packaged records it was filled from."""

    __tablename__ = "meta"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[str] = mapped_column(Text)


class SkeletonRow(Base):
    """One skeleton record. `id` is also the row of its text in the table `search`."""

    __tablename__ = "skeletons"
    __table_args__ = (CheckConstraint("origin IN ('packaged', 'user')", name="skeletons_origin"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    origin: Mapped[str] = mapped_column(String(16))
    """`packaged` records follow the package; `user` records are never touched by it."""
    title: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(String(16))
    purpose: Mapped[str] = mapped_column(String(16))
    advice: Mapped[bool] = mapped_column(Boolean(name="skeletons_advice"))
    """True where the schedule is empty."""
    content: Mapped[str] = mapped_column(Text)
    content_sha256: Mapped[str] = mapped_column(String(64))


class EvidenceRow(Base):
    """One piece of evidence, append-only: triggers reject updates and deletes and ignore a second copy."""

    __tablename__ = "evidence"
    __table_args__ = (Index("evidence_skeleton", "skeleton", "measured_at"),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    """SHA-256 of `content`."""
    skeleton: Mapped[str] = mapped_column(String(64))
    kernel: Mapped[str] = mapped_column(Text)
    level: Mapped[str] = mapped_column(String(16))
    verdict: Mapped[str] = mapped_column(String(16))
    measured_at: Mapped[str] = mapped_column(String(40))
    """UTC, ISO 8601, so that text order is time order."""
    environment: Mapped[str] = mapped_column(Text)
    """The environment as JSON."""
    content: Mapped[str] = mapped_column(Text)
    """The whole evidence as canonical JSON."""
