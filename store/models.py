"""The tables. Everything a reader needs of a record is in its `content`, the record as canonical JSON.

The tables of search are derived from it and are written anew when the packaged records change.
"""

from sqlalchemy import Boolean, CheckConstraint, Float, Index, Integer, LargeBinary, String, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The declarative base of all tables."""


class MetaRow(Base):
    """What the database knows of itself, for example the fingerprint of the packaged records it was filled from."""

    __tablename__ = "meta"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[str] = mapped_column(Text)


class SkeletonRow(Base):
    """One skeleton record."""

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


class TextRow(Base):
    """The words of one record."""

    __tablename__ = "texts"

    skeleton: Mapped[int] = mapped_column(Integer, primary_key=True)
    length: Mapped[float] = mapped_column(Float)
    """Number of words."""
    stems: Mapped[str] = mapped_column(Text)
    """JSON: the stems of each passage, in the order of `passages`, with spaces between."""


class PostingRow(Base):
    """In which records a stem, or a phrase of the synonyms, occurs. Arrays of one length, little-endian."""

    __tablename__ = "postings"

    term: Mapped[str] = mapped_column(Text, primary_key=True)
    skeletons: Mapped[bytes] = mapped_column(LargeBinary)
    """int64: ids of records."""
    weights: Mapped[bytes] = mapped_column(LargeBinary)
    """float32: occurrences, each counted by the weight of its field."""
    shares: Mapped[bytes] = mapped_column(LargeBinary)
    """float32: what an occurrence in the best of these fields counts, in (0, 1]."""


class VectorRow(Base):
    """The vectors of one record's sentences under one model; `skeleton` 0 holds the topics out of scope."""

    __tablename__ = "vectors"

    skeleton: Mapped[int] = mapped_column(Integer, primary_key=True)
    model: Mapped[str] = mapped_column(Text, primary_key=True)
    texts_sha256: Mapped[str] = mapped_column(String(64))
    """Of the texts, so that a changed record is encoded anew."""
    vectors: Mapped[bytes] = mapped_column(LargeBinary)
    """float16 [sentences, dimensions], unit vectors."""
    centre: Mapped[bytes] = mapped_column(LargeBinary)
    """float16 [dimensions]: their mean, as a unit vector."""


class FacetRow(Base):
    """A property that hits may be filtered by."""

    __tablename__ = "facets"
    __table_args__ = (Index("facets_value", "facet", "value"),)

    skeleton: Mapped[int] = mapped_column(Integer, primary_key=True)
    facet: Mapped[str] = mapped_column(String(16), primary_key=True)
    value: Mapped[str] = mapped_column(Text, primary_key=True)


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
