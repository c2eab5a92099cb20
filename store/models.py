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


class MinedSourceRow(Base):
    """A source at the revision that was mined last."""

    __tablename__ = "mined_sources"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    repository: Mapped[str | None] = mapped_column(Text)
    place: Mapped[str] = mapped_column(Text)
    """The package, URL or folder, as its entry names it."""
    revision: Mapped[str] = mapped_column(String(64))
    licence: Mapped[str] = mapped_column(Text)
    fingerprint: Mapped[str] = mapped_column(String(64))
    """Of the miner and of the entry's globs: where it differs, the same revision is mined again."""
    mined_at: Mapped[str] = mapped_column(String(40))
    summary: Mapped[str] = mapped_column(Text)
    """JSON: counts of files and kernels, and for each technique what is there, new, gone and changed."""


class MinedKernelRow(Base):
    """A kernel at one place, at the revision that was mined last."""

    __tablename__ = "mined_kernels"
    __table_args__ = (Index("mined_kernels_place", "source", "path"), Index("mined_kernels_digest", "digest"))

    id: Mapped[int] = mapped_column(primary_key=True)
    source: Mapped[str] = mapped_column(String(64))
    path: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    line: Mapped[int] = mapped_column(Integer)
    end_line: Mapped[int] = mapped_column(Integer)
    language: Mapped[str] = mapped_column(String(16))
    digest: Mapped[str] = mapped_column(String(64))
    """Equal for vendored copies, in whatever repository."""
    licence: Mapped[str] = mapped_column(Text)
    revision: Mapped[str] = mapped_column(String(64))
    resources: Mapped[str] = mapped_column(Text)
    """JSON: tiles, warps, stages, configurations, launches."""
    conditions: Mapped[str] = mapped_column(Text)
    """JSON: asserts, guards, heuristics, dispatch tables and comments that state a number."""


class OccurrenceRow(Base):
    """One technique in one kernel's code, however many copies of that code there are."""

    __tablename__ = "occurrences"
    __table_args__ = (Index("occurrences_technique", "technique", "role"),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    """SHA-256 of digest, technique and role."""
    technique: Mapped[str] = mapped_column(String(64))
    role: Mapped[str] = mapped_column(String(16))
    """`uses`, `could_use` or `hazard`."""
    language: Mapped[str] = mapped_column(String(16))
    digest: Mapped[str] = mapped_column(String(64))


class OccurrencePlaceRow(Base):
    """One place of an occurrence. A place that a new revision has no more stays, with the revision that retired it."""

    __tablename__ = "occurrence_places"
    __table_args__ = (Index("occurrence_places_source", "source"), Index("occurrence_places_occurrence", "occurrence"))

    id: Mapped[int] = mapped_column(primary_key=True)
    occurrence: Mapped[str] = mapped_column(String(64))
    source: Mapped[str] = mapped_column(String(64))
    repository: Mapped[str | None] = mapped_column(Text)
    path: Mapped[str] = mapped_column(Text)
    kernel: Mapped[str] = mapped_column(Text)
    number: Mapped[int] = mapped_column(Integer)
    """Which of the kernels of that name in the file, from 0."""
    line: Mapped[int] = mapped_column(Integer)
    why: Mapped[str] = mapped_column(Text)
    applicable: Mapped[bool | None] = mapped_column(Boolean(name="occurrence_places_applicable"))
    refusals: Mapped[str] = mapped_column(Text)
    """JSON: codes."""
    licence: Mapped[str] = mapped_column(Text)
    first_revision: Mapped[str] = mapped_column(String(64))
    revision: Mapped[str] = mapped_column(String(64))
    """The last revision that has it."""
    retired_revision: Mapped[str | None] = mapped_column(String(64))
    """The revision that has it no more; None while it is there."""


class MinedClaimRow(Base):
    """What a commit of a source claims, or takes back. Identified by the hash of its content."""

    __tablename__ = "mined_claims"
    __table_args__ = (Index("mined_claims_technique", "technique"), Index("mined_claims_source", "source"))

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    source: Mapped[str] = mapped_column(String(64))
    repository: Mapped[str | None] = mapped_column(Text)
    commit_id: Mapped[str] = mapped_column(String(64))
    committed_at: Mapped[str] = mapped_column(String(40))
    subject: Mapped[str] = mapped_column(Text)
    technique: Mapped[str | None] = mapped_column(String(64))
    """The likeliest technique of the commit; None where its code and words show none."""
    outcome: Mapped[str] = mapped_column(String(16))
    statement: Mapped[str] = mapped_column(Text)
    content: Mapped[str] = mapped_column(Text)
    """JSON: before, after, ratio, percent, shape, GPU."""
