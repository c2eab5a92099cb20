"""The scorer of meaning: how near the sentences of each record are to a query's vector."""

import sqlite3
from dataclasses import dataclass

from .embedding.arrays import F32, I64, np
from .index import EXACT_RECORDS, Index, Vectors, sentences_of

_NEAREST = 24
"""Records whose sentences are looked at where not all are."""
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
        positions = np.union1d(np.argpartition(-near, _NEAREST)[:_NEAREST], also)
    score = np.full(len(index.ids), -1.0, np.float32)
    best: dict[int, tuple[int, float]] = {}
    for at, sentences in sentences_of(connection, index, vectors, model, positions.tolist()).items():
        if len(sentences):
            cosines = sentences @ query
            first = int(cosines.argmax())
            score[at] = np.sort(cosines)[-_BEST_OF:].mean()
            best[at] = first, float(cosines[first])
    scope = float((vectors.scope @ query).max()) if len(vectors.scope) else -1.0
    return Nearness(score, best, scope)
