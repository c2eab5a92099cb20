"""Reading what was mined."""

import json
from dataclasses import dataclass
from typing import Any

from .database import Database


@dataclass(frozen=True, slots=True)
class OccurrencePlace:
    """One place of an occurrence."""

    source: str
    repository: str | None
    revision: str
    """The last revision that has it."""
    licence: str
    path: str
    kernel: str
    line: int
    why: str
    applicable: bool | None
    refusals: tuple[str, ...]
    first_revision: str
    retired_revision: str | None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One technique in one kernel's code, with every place that has a copy of it."""

    technique: str
    role: str
    language: str
    digest: str
    places: tuple[OccurrencePlace, ...]


@dataclass(frozen=True, slots=True)
class MinedClaim:
    """What a commit claims; `repository` is the source's name where it is known by no other."""

    repository: str
    commit: str
    committed_at: str
    subject: str
    outcome: str
    statement: str
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """A source as it was mined last."""

    name: str
    kind: str
    repository: str | None
    place: str
    revision: str
    licence: str
    mined_at: str
    summary: dict[str, Any]


def occurrences_of(database: Database, technique: str, retired: bool = False) -> tuple[Occurrence, ...]:
    """Every occurrence of a technique, uses first, those with the most places first. Raises StoreError.

    Places that a later revision has no more are left out unless `retired` asks for them.
    """
    query = (
        "SELECT o.id, o.role, o.language, o.digest, p.source, p.repository, p.revision, p.licence, p.path, p.kernel,"
        " p.line, p.why, p.applicable, p.refusals, p.first_revision, p.retired_revision FROM occurrences o"
        " JOIN occurrence_places p ON p.occurrence = o.id WHERE o.technique = ?"
    )
    if not retired:
        query += " AND p.retired_revision IS NULL"
    with database.reading() as connection:
        rows = connection.execute(query + " ORDER BY p.source, p.path, p.line, p.id", (technique,)).fetchall()
    heads: dict[str, tuple[str, str, str]] = {}
    places: dict[str, list[OccurrencePlace]] = {}
    for key, role, language, digest, *rest in rows:
        heads[key] = (role, language, digest)
        source, repository, revision, licence, path, kernel, line, why, applicable, refusals, first, gone = rest
        places.setdefault(key, []).append(OccurrencePlace(
            source, repository, revision, licence, path, kernel, line, why,
            None if applicable is None else bool(applicable), tuple(json.loads(refusals)), first, gone))
    found = [Occurrence(technique, *heads[key], tuple(listed)) for key, listed in places.items()]
    order = {"uses": 0, "could_use": 1, "hazard": 2}
    return tuple(sorted(found, key=lambda o: (order.get(o.role, 3), -len(o.places), o.places[0].source,
                                              o.places[0].path, o.places[0].line)))


def claims_of(database: Database, technique: str) -> tuple[MinedClaim, ...]:
    """What commits claim of a technique, newest first. Raises StoreError."""
    with database.reading() as connection:
        rows = connection.execute(
            "SELECT COALESCE(repository, source), commit_id, committed_at, subject, outcome, statement, content"
            " FROM mined_claims"
            " WHERE technique = ? ORDER BY committed_at DESC, id", (technique,)).fetchall()
    keys = ("repository", "commit", "committed_at", "subject", "outcome", "statement")
    return tuple(MinedClaim(**dict(zip(keys, row, strict=False)), content=json.loads(row[-1])) for row in rows)


def mined_sources(database: Database) -> tuple[SourceSummary, ...]:
    """Every source that was mined, by name. Raises StoreError."""
    with database.reading() as connection:
        rows = connection.execute(
            "SELECT name, kind, repository, place, revision, licence, mined_at, summary FROM mined_sources"
            " ORDER BY name").fetchall()
    keys = ("name", "kind", "repository", "place", "revision", "licence", "mined_at")
    return tuple(SourceSummary(**dict(zip(keys, row, strict=False)), summary=json.loads(row[-1])) for row in rows)


def kernel_at(database: Database, source: str, path: str, name: str) -> dict[str, Any] | None:
    """Resources and conditions of a kernel; None where it was not mined. Raises StoreError."""
    with database.reading() as connection:
        row = connection.execute(
            "SELECT line, end_line, language, digest, licence, revision, resources, conditions FROM mined_kernels"
            " WHERE source = ? AND path = ? AND name = ? ORDER BY line", (source, path, name)).fetchone()
    if row is None:
        return None
    keys = ("line", "end_line", "language", "digest", "licence", "revision")
    return {**dict(zip(keys, row[:6], strict=True)), "resources": json.loads(row[6]), "conditions": json.loads(row[7])}
