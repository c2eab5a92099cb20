"""The scorer of words: what share of a query each record answers.

A record's score is the share of the query's weight that it answers, in [0, 1]: each term weighs its inverse document
frequency, counted by how strongly the record speaks of it (BM25, Robertson and Zaragoza 2009) compared with the record
that does most.
"""

import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .embedding.arrays import F32, I64, np
from .index import Index
from .query import Term
from .spelling import nearest_stem
from .stems import stems
from .terms import is_cjk

SYNONYM_WEIGHT = 0.5
_PRESENCE = 0.5
"""Part of a term's weight that a record gets for holding it at all; the rest follows BM25."""
_SATURATION, _LENGTH = 1.2, 0.75

_UNKNOWN_WEIGHT = 2.0
"""A word that no record holds tells more of a query off the subject than a rare one tells of a query on it."""

_SHORT_NUMBER = 0.3
"""Part of its weight that a number of at most three digits keeps: 16 rows and 16 bytes have nothing in common."""
_ACROSS_WORDS = 0.3
"""Part of its weight that a pair of Chinese characters keeps where it probably lies across two words."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A query term with its weight in this database, and how well records answer it."""

    term: Term
    stem: str
    others: tuple[str, ...]
    """Stems of the synonyms."""
    weight: float
    at: I64
    """Positions of the records that hold it or a synonym."""
    strength: F32
    """How well each does, in (0, 1]."""


def weigh(connection: sqlite3.Connection, index: Index, terms: Iterable[Term]) -> tuple[Weighed, ...]:
    """Look every term up."""
    wanted = tuple(terms)
    stem = stems([*(term.text for term in wanted), *(other for term in wanted for other in term.others)])
    _read_strengths(connection, index, stem.values())
    weighed = tuple(_weigh_one(connection, index, term, stem) for term in wanted)
    records = {item.term.text: len(item.at) for item in weighed}
    return tuple(replace(item, weight=item.weight * _share_of_word(item, records)) for item in weighed)


def scores(index: Index, weighed: tuple[Weighed, ...]) -> F32:
    """The score of every record."""
    total = sum(item.weight for item in weighed)
    found = np.zeros(len(index.ids), np.float32)
    if total:
        for item in weighed:
            found[item.at] += np.float32(item.weight / total) * item.strength
    return found


class Wanted:
    """The stems and phrases of a query and its synonyms, with the terms that each stands for."""

    def __init__(self, weighed: tuple[Weighed, ...]) -> None:
        self._terms: dict[str, list[tuple[str, float]]] = {}
        for item in weighed:
            if item.weight:
                self._terms.setdefault(item.stem, []).append((item.term.text, item.weight))
                for other in item.others:
                    self._terms.setdefault(other, []).append((item.term.text, item.weight * SYNONYM_WEIGHT))
        self._phrases = tuple(term for term in self._terms if " " in term)
        self.words = frozenset(word for term in self._terms for word in term.split())
        """Every stem that is in one of them."""

    def answered(self, line: Sequence[str]) -> float:
        """The weight of the query terms that a passage, given as its stems, answers."""
        words = self.words.intersection(line)
        padded = f" {' '.join(line)} " if self._phrases else ""
        found: dict[str, float] = {}
        phrases = (phrase for phrase in self._phrases if f" {phrase} " in padded)
        for each in (*words, *phrases):
            for term, weight in self._terms.get(each, ()):
                found[term] = max(found.get(term, 0.0), weight)
        return math.fsum(found.values())  # the same in whatever order a set gives its words


def _share_of_word(item: Weighed, records: dict[str, int]) -> float:
    """A Chinese pair that is rarer than one it overlaps probably lies across two words; unknown, it surely does, and
    also where it overlaps one that carries no topic (such pairs are no terms)."""
    if not len(item.at) and any(other not in records for other in item.term.beside):
        return 0.0
    beside = max((records.get(other, 0) for other in item.term.beside), default=0)
    return 1.0 if len(item.at) >= beside else _ACROSS_WORDS if len(item.at) else 0.0


def _weigh_one(connection: sqlite3.Connection, index: Index, term: Term, stem: dict[str, str]) -> Weighed:
    others = tuple(dict.fromkeys(stem[other] for other in term.others))
    own = _strengths(connection, index, stem[term.text])
    alike = [(at, SYNONYM_WEIGHT * value) for at, value in (_strengths(connection, index, other) for other in others)]
    held, strength = _highest([own, *alike], len(index.ids))
    if not len(held) and not term.optional and (
            meant := nearest_stem(connection, term.text, stem[term.text])) is not None:
        others = (meant,)
        held, value = _strengths(connection, index, meant)
        strength = SYNONYM_WEIGHT * value
    known = len(own[0]) or len(held)
    weight = math.log(1 + (len(index.ids) - known + 0.5) / (known + 0.5))
    if term.text.isdigit() and len(term.text) <= 3:
        weight *= _SHORT_NUMBER
    if not known:
        weight *= 0.0 if term.optional else 1.0 if is_cjk(term.text) else _UNKNOWN_WEIGHT
    return Weighed(term, stem[term.text], others, weight, held, strength)


def _highest(found: list[tuple[I64, F32]], records: int) -> tuple[I64, F32]:
    """The positions in any of some lists, each with its highest value."""
    some = [each for each in found if len(each[0])]
    if len(some) <= 1:
        return some[0] if some else found[0]
    strength = np.zeros(records, np.float32)
    for at, value in some:
        strength[at] = np.maximum(strength[at], value)
    held = np.flatnonzero(strength)
    return held, strength[held]


def _strengths(connection: sqlite3.Connection, index: Index, stem: str) -> tuple[I64, F32]:
    """The records that hold a stem, and how strongly each speaks of it, in (0, 1]; kept with the index."""
    if stem not in index.strengths:
        _read_strengths(connection, index, (stem,))
    return index.strengths[stem]


def _read_strengths(connection: sqlite3.Connection, index: Index, some: Iterable[str]) -> None:
    missing = tuple(dict.fromkeys(stem for stem in some if stem not in index.strengths))
    if not missing:
        return
    for stem, posting in index.postings(connection, missing).items():
        longer = index.lengths[posting.at] / index.mean_length
        room = _SATURATION * (1 - _LENGTH + _LENGTH * longer)
        value = np.asarray(posting.weights / (posting.weights + room), np.float32)
        highest = value.max(initial=np.float32(0)) or np.float32(1)
        strength = np.asarray(posting.shares * (_PRESENCE + (1 - _PRESENCE) * value / highest), np.float32)
        index.strengths[stem] = posting.at, strength
