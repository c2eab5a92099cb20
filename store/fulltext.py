"""The full-text scorer: what FTS5 finds of each query term in each record, blended here.

FTS5 scores one term at a time (bm25 is a sum over terms), so that the blend knows which terms a record answers. A
record's score is the share of the query's weight that it answers, in [0, 1]: each term weighs its inverse document
frequency, counted by how strongly the record speaks of it compared with the record that does most.
"""

import math
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace

from .query import Term, match_expression
from .terms import is_cjk

COLUMNS = ("name", "title", "symptoms", "tags", "summary", "applies_if")
_COLUMN_WEIGHTS = "4.0, 3.0, 3.0, 2.0, 1.0, 1.0"
SYNONYM_WEIGHT = 0.5
_PRESENCE = 0.5
"""Part of a term's weight that a record gets for holding it at all; the rest follows bm25."""

_UNKNOWN_WEIGHT = 2.0
"""A word that no record holds tells more of a query off the subject than a rare one tells of a query on it."""

_ACROSS_WORDS = 0.3
"""Part of its weight that a pair of Chinese characters keeps where it probably lies across two words."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A query term with its weight in this database, and how well each record (by row) answers it, in (0, 1]."""

    term: Term
    weight: float
    strength: dict[int, float]


def weigh(connection: sqlite3.Connection, terms: Iterable[Term]) -> tuple[Weighed, ...]:
    """Look every term up."""
    (count,) = connection.execute("SELECT count(*) FROM skeletons").fetchone()
    weighed = tuple(_weigh_one(connection, term, count) for term in terms)
    records = {item.term.text: len(item.strength) for item in weighed}
    return tuple(replace(item, weight=item.weight * _share_of_word(item, records)) for item in weighed)


def scores(weighed: tuple[Weighed, ...]) -> dict[int, float]:
    """The score of every record that answers any term."""
    total = sum(item.weight for item in weighed)
    found: dict[int, float] = {}
    for item in weighed:
        for row, strength in item.strength.items():
            found[row] = found.get(row, 0.0) + item.weight * strength / total
    return found


def marked(connection: sqlite3.Connection, weighed: tuple[Weighed, ...], rows: Iterable[int],
           ) -> dict[int, tuple[str, ...]]:
    """The indexed columns of some records with every matched term between \\x02 and \\x03."""
    terms = [item.term for item in weighed if item.strength]
    phrases = dict.fromkeys(phrase for term in terms for phrase in (term.text, *term.others))
    columns = ", ".join(f"highlight(search, {index}, char(2), char(3))" for index in range(len(COLUMNS)))
    expression = match_expression(phrases)
    wanted = tuple(rows)
    found = connection.execute(f"SELECT rowid, {columns} FROM search WHERE search MATCH ? AND rowid IN "
                               f"({', '.join('?' * len(wanted))})", (expression, *wanted))
    return {row[0]: tuple(row[1:]) for row in found}


def _share_of_word(item: Weighed, records: dict[str, int]) -> float:
    """A Chinese pair that is rarer than one it overlaps probably lies across two words; unknown, it surely does."""
    beside = max((records.get(other, 0) for other in item.term.beside), default=0)
    return 1.0 if len(item.strength) >= beside else _ACROSS_WORDS if item.strength else 0.0


def _weigh_one(connection: sqlite3.Connection, term: Term, count: int) -> Weighed:
    own = _bm25(connection, [term.text])
    others = _bm25(connection, term.others) if term.others else {}
    best = max(own.values(), default=0.0)
    strength = {row: _PRESENCE + (1 - _PRESENCE) * value / best for row, value in own.items()}
    best = max(others.values(), default=0.0)
    for row, value in others.items():
        alike = SYNONYM_WEIGHT * (_PRESENCE + (1 - _PRESENCE) * value / best)
        strength[row] = max(strength.get(row, 0.0), alike)
    known = len(own) or len(others)
    weight = math.log(1 + (count - known + 0.5) / (known + 0.5))
    if not known:
        weight *= 0.0 if term.optional else 1.0 if is_cjk(term.text) else _UNKNOWN_WEIGHT
    return Weighed(term, weight, strength)


def _bm25(connection: sqlite3.Connection, phrases: Iterable[str]) -> dict[int, float]:
    expression = match_expression(phrases)
    rows = connection.execute(f"SELECT rowid, -bm25(search, {_COLUMN_WEIGHTS}) FROM search WHERE search MATCH ?",
                              (expression,))
    return {row: max(value, 1e-9) for row, value in rows}
