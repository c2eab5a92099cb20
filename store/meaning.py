"""The scorer of meaning: how near the sentences of each record are to a query's vector."""

import sqlite3
from dataclasses import dataclass

from .embedding.arrays import F32, I64, np
from .index import EXACT_RECORDS, Index, Vectors, sentences_of
from .top import top

_NEAREST = 24
"""Records whose sentences are looked at where not all are."""
_NONE = -2.0
"""Below any cosine."""
_BEST_OF = 3
"""A record is as near as its three nearest sentences are on average: one stray sentence is not enough."""


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near each record is to a query: cosines."""

    score: F32
    """[records]: the mean over the nearest sentences; -1 where a record was not looked at."""
    best: dict[int, tuple[int, float]]
    """By position: the nearest sentence's index among the record's embedded texts, and its cosine."""
    scope: float
    """The nearest topic that no record treats."""


def nearness(connection: sqlite3.Connection, index: Index, vectors: Vectors, model: str, query: F32,
             also: I64) -> Nearness:
    """Compare a query's vector with the records; `also` are positions to look at in any case."""
    if len(index.ids) <= EXACT_RECORDS:
        positions = np.arange(len(index.ids))
    else:
        near = vectors.centres @ query
        positions = np.union1d(top(near, _NEAREST), also)
    sentences, counts = sentences_of(connection, index, vectors, model, positions)
    held = counts > 0
    cosines = _by_record(sentences @ query, counts[held])
    at = positions[held]
    score = np.full(len(index.ids), -1.0, np.float32)
    nearest = -np.sort(-cosines, axis=1)[:, :_BEST_OF]
    there = nearest > _NONE
    score[at] = np.where(there, nearest, 0).sum(1) / np.maximum(there.sum(1), 1)
    first = cosines.argmax(1)
    best = dict(zip(at.tolist(), zip(first.tolist(), nearest[:, 0].tolist(), strict=True), strict=True))
    scope = float((vectors.scope @ query).max()) if len(vectors.scope) else -1.0
    return Nearness(score, best, scope)


def _by_record(values: F32, counts: I64) -> F32:
    """Values of one record after another as rows, filled up with `_NONE`."""
    most = int(counts.max(initial=1))
    rows = np.full((len(counts), most), _NONE, np.float32)
    rows[np.arange(most) < counts[:, None]] = values
    return rows
