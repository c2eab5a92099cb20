"""Filters on hits, as properties of records."""

import sqlite3
from dataclasses import dataclass

from .embedding.arrays import I64, np


@dataclass(frozen=True, slots=True)
class Filters:
    """What a hit must be; a field left out asks nothing."""

    kind: str | None = None
    architecture: str | None = None
    """For example `sm_90`: records limited to other architectures are left out, those without a limit stay."""
    numerics: str | None = None
    """The weakest class that is wanted: `reassociated` also lets `bitwise` through."""
    source: str | None = None
    """A part of the name of a repository that the technique is seen in."""
    proven: bool | None = None
    """Whether a measurement in the database found the technique faster, or improved by it."""


def allowed(connection: sqlite3.Connection, filters: Filters) -> I64:
    """The ids of the records that pass, sorted."""
    from .schema.words import NumericsClass, Verdict

    clauses, values = ["1"], list[str]()
    if filters.kind is not None:
        clauses.append(_having("facet = 'kind' AND value = ?"))
        values.append(filters.kind)
    if filters.architecture is not None:
        clauses.append(_having("facet = 'architecture' AND value IN ('any', ?)"))
        values.append(filters.architecture)
    if filters.numerics is not None:
        wanted = NumericsClass(filters.numerics)
        classes = [each.value for each in NumericsClass if each.rank <= wanted.rank]
        clauses.append(_having(f"facet = 'numerics' AND value IN ({', '.join('?' * len(classes))})"))
        values += classes
    if filters.source is not None:
        clauses.append(_having("facet = 'source' AND instr(value, ?)"))
        values.append(filters.source.lower())
    if filters.proven is not None:
        clauses.append(f"name {'' if filters.proven else 'NOT '}IN (SELECT skeleton FROM evidence "
                       "WHERE verdict IN (?, ?))")
        values += (Verdict.FASTER.value, Verdict.IMPROVED.value)
    rows = connection.execute(f"SELECT id FROM skeletons WHERE {' AND '.join(clauses)} ORDER BY id", values)
    return np.array([row for (row,) in rows], np.int64)


def _having(condition: str) -> str:
    return f"id IN (SELECT skeleton FROM facets WHERE {condition})"
