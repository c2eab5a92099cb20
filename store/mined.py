"""What was mined, in the database: stored whole or not at all, and read back by technique or by source."""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .database import Database
from .transaction import plain_writing


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """The source that was mined."""

    name: str
    kind: str
    repository: str | None
    place: str
    revision: str
    licence: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class FoundTechnique:
    """One technique at one kernel."""

    technique: str
    role: str
    line: int
    why: str
    applicable: bool | None = None
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundKernel:
    """One kernel at one place."""

    path: str
    name: str
    line: int
    end_line: int
    language: str
    digest: str
    resources: dict[str, Any]
    conditions: Sequence[dict[str, Any]]
    techniques: tuple[FoundTechnique, ...]


@dataclass(frozen=True, slots=True)
class FoundClaim:
    """One claim of one commit."""

    commit: str
    committed_at: str
    subject: str
    technique: str | None
    outcome: str
    statement: str
    content: dict[str, Any] = field(default_factory=dict)


def mined_state(database: Database, name: str) -> tuple[str, str] | None:
    """Revision and fingerprint of a source that was mined; None for one that was not. Raises StoreError."""
    with database.reading() as connection:
        row = connection.execute("SELECT revision, fingerprint FROM mined_sources WHERE name = ?", (name,)).fetchone()
    return (str(row[0]), str(row[1])) if row else None


def store_mined(
    database: Database, source: SourceFacts, kernels: Sequence[FoundKernel], summary: dict[str, Any], mined_at: str
) -> dict[str, dict[str, int]]:
    """Put a source's kernels and occurrences in place of those of its last revision, in one transaction.

    Gives, for each technique, how many places there are by role, and how many are `new`, `gone` and `changed`: at the
    same kernel, whose code is another. Raises StoreError, with nothing changed.
    """
    with plain_writing(database) as connection:
        techniques = _replace(connection, source, kernels)
        history = _summary(connection, source.name).get("history")
        kept = {**summary, "techniques": techniques, **({"history": history} if history is not None else {})}
        connection.execute(
            "INSERT OR REPLACE INTO mined_sources (name, kind, repository, place, revision, licence, fingerprint,"
            " mined_at, summary) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (source.name, source.kind, source.repository, source.place, source.revision, source.licence,
             source.fingerprint, mined_at, _json(kept)))
    return techniques


def history_of(database: Database, name: str) -> dict[str, Any] | None:
    """What was noted of a source's history; None where nothing was. Raises StoreError."""
    with database.reading() as connection:
        found: dict[str, Any] | None = _summary(connection, name).get("history")
    return found


def note_history(database: Database, name: str, history: dict[str, Any]) -> None:
    """Note what came of a source's history beside what was mined of its code. Raises StoreError."""
    with plain_writing(database) as connection:
        summary = {**_summary(connection, name), "history": history}
        connection.execute("UPDATE mined_sources SET summary = ? WHERE name = ?", (_json(summary), name))


def _summary(connection: sqlite3.Connection, name: str) -> dict[str, Any]:
    row = connection.execute("SELECT summary FROM mined_sources WHERE name = ?", (name,)).fetchone()
    found: dict[str, Any] = json.loads(row[0]) if row else {}
    return found


Key = tuple[str, str, int, str, str]
"""A place: path, kernel, which of that name, technique, role."""


def _replace(
    connection: sqlite3.Connection, source: SourceFacts, kernels: Sequence[FoundKernel]
) -> dict[str, dict[str, int]]:
    connection.execute("DELETE FROM mined_kernels WHERE source = ?", (source.name,))
    connection.executemany(
        "INSERT INTO mined_kernels (source, path, name, line, end_line, language, digest, licence, revision, resources,"
        " conditions) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(source.name, k.path, k.name, k.line, k.end_line, k.language, k.digest, source.licence, source.revision,
          _json(k.resources), _json(list(k.conditions))) for k in kernels])
    old: dict[Key, tuple[int, str]] = {
        (path, kernel, number, technique, role): (key, occurrence)
        for key, occurrence, path, kernel, number, technique, role in connection.execute(
            "SELECT p.id, p.occurrence, p.path, p.kernel, p.number, o.technique, o.role FROM occurrence_places p"
            " JOIN occurrences o ON o.id = p.occurrence WHERE p.source = ? AND p.retired_revision IS NULL",
            (source.name,))
    }
    counts: dict[str, Counter[str]] = {}
    seen: set[Key] = set()
    for (kernel, number), found in _numbered(kernels):
        key: Key = (kernel.path, kernel.name, number, found.technique, found.role)
        identity = occurrence_id(kernel.digest, found.technique, found.role)
        count = counts.setdefault(found.technique, Counter())
        count[found.role] += 1
        seen.add(key)
        before = old.get(key)
        if before is not None and before[1] == identity:
            connection.execute(
                "UPDATE occurrence_places SET line = ?, why = ?, applicable = ?, refusals = ?, licence = ?,"
                " revision = ? WHERE id = ?",
                (found.line, found.why, found.applicable, _json(found.refusals), source.licence, source.revision,
                 before[0]))
            continue
        if before is not None:
            _retire(connection, before[0], source.revision)
        count["new" if before is None else "changed"] += 1
        connection.execute(
            "INSERT OR IGNORE INTO occurrences (id, technique, role, language, digest) VALUES (?, ?, ?, ?, ?)",
            (identity, found.technique, found.role, kernel.language, kernel.digest))
        connection.execute(
            "INSERT INTO occurrence_places (occurrence, source, repository, path, kernel, number, line, why,"
            " applicable, refusals, licence, first_revision, revision) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (identity, source.name, source.repository, kernel.path, kernel.name, number, found.line, found.why,
             found.applicable, _json(found.refusals), source.licence, source.revision, source.revision))
    for key, (row, _) in old.items():
        if key not in seen:
            _retire(connection, row, source.revision)
            counts.setdefault(key[3], Counter())["gone"] += 1
    connection.execute("DELETE FROM occurrences WHERE id NOT IN (SELECT occurrence FROM occurrence_places)")
    return {technique: dict(sorted(count.items())) for technique, count in sorted(counts.items())}


def _numbered(
    kernels: Sequence[FoundKernel],
) -> Iterable[tuple[tuple[FoundKernel, int], FoundTechnique]]:
    """Each kernel's techniques, with which of its name in the file the kernel is."""
    names: Counter[tuple[str, str]] = Counter()
    for kernel in kernels:
        number = names[kernel.path, kernel.name]
        names[kernel.path, kernel.name] += 1
        for found in kernel.techniques:
            yield (kernel, number), found


def _retire(connection: sqlite3.Connection, row: int, revision: str) -> None:
    # What another miner saw in this same revision, and this one does not, was never there.
    connection.execute("DELETE FROM occurrence_places WHERE id = ? AND revision = ?", (row, revision))
    connection.execute("UPDATE occurrence_places SET retired_revision = ? WHERE id = ?", (revision, row))


def occurrence_id(digest: str, technique: str, role: str) -> str:
    """The name of an occurrence: copies of a kernel share it."""
    return hashlib.sha256(f"{digest}\0{technique}\0{role}".encode()).hexdigest()


def store_claims(database: Database, source: str, repository: str | None, claims: Iterable[FoundClaim]) -> int:
    """Put a source's claims in place of those stored before, in one transaction; how many are new.

    Raises StoreError, with nothing changed.
    """
    rows = {}
    for claim in claims:
        content = _json(claim.content)
        key = hashlib.sha256("\0".join((source, claim.commit, claim.statement, content)).encode()).hexdigest()
        rows[key] = (key, source, repository, claim.commit, claim.committed_at, claim.subject, claim.technique,
                     claim.outcome, claim.statement, content)
    with plain_writing(database) as connection:
        had = {row[0] for row in connection.execute("SELECT id FROM mined_claims WHERE source = ?", (source,))}
        connection.execute("DELETE FROM mined_claims WHERE source = ?", (source,))
        connection.executemany(
            "INSERT OR REPLACE INTO mined_claims (id, source, repository, commit_id, committed_at, subject, technique,"
            " outcome, statement, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", list(rows.values()))
    return len(rows.keys() - had)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
