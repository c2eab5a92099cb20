"""Search over the records: what a user sees in, what skeletons come out, and why.

A query is a symptom, a technique, code, or what a profiler said (see `query_kind`). It becomes one or more sentences,
each of which is scored against the records by its words and by its meaning; a record's score is its best.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from .database import Database
from .embedding.arrays import F32, np, one_thread
from .embedding.model import DEFAULT_MODEL
from .explain import Lines, why
from .filters import Filters, allowed
from .index import Index, index_of, lines_of
from .query_kind import Reading, Sentence, read
from .ranking import MIN_OF_BEST, Scored, score
from .top import top

SIGNAL_SCORE = 0.6
"""What a record gets at least whose technique was seen in the code that was given as the query."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One record that answers a query."""

    name: str
    score: float
    """In [0, 1], comparable within one search."""
    title: str
    kind: str
    why: str
    """Which symptom or field matched, which words, and how near it is in meaning."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of one query, and how the query was understood."""

    hits: tuple[Hit, ...]
    read_as: str
    """`text`, `chinese`, `code`, `profiler`, or `other_language`."""
    language: str | None = None
    """For `other_language`: which, as far as it can be told."""


def search(database: Database, query: str, limit: int = 10) -> tuple[Hit, ...]:
    """The records that answer `query`, best first; none where nothing does. Raises StoreError."""
    return answer(database, query, limit).hits


def answer(database: Database, query: str, limit: int = 10, filters: Filters | None = None,
           model: str = DEFAULT_MODEL, signals: Mapping[str, str] | None = None) -> Answer:
    """The hits of `query`, best first, and how it was read.

    `signals` are skeletons known to concern the query (seen by a scan of the code in it), each with the reason.
    Raises StoreError (the database or the model cannot be used).
    """
    reading = read(query)
    if limit < 1 or (not reading.sentences and not signals):
        return Answer((), reading.kind, reading.language)
    if model != DEFAULT_MODEL:
        _ensure_indexed(database, model)
    with one_thread(), database.reading() as connection:
        index = index_of(connection, database.path)
        if not len(index.ids):
            return Answer((), reading.kind)
        scored = [(sentence, score_sentence(connection, index, sentence, model)) for sentence in reading.sentences]
        hits = _hits(connection, index, reading, scored, limit, filters, signals or {})
    return Answer(hits, reading.kind, reading.language)


def score_sentence(connection: sqlite3.Connection, index: Index, sentence: Sentence, model: str) -> Scored:
    """Score every record on a sentence; what the index holds of one of ours is not done again."""
    if not sentence.derived:
        return score(connection, index, sentence.text, model, sentence.by_meaning)
    found = index.derived.get((model, sentence.text))
    if found is None:
        found = index.derived[model, sentence.text] = score(connection, index, sentence.text, model, True)
    return found


def _hits(connection: sqlite3.Connection, index: Index, reading: Reading, scored: list[tuple[Sentence, Scored]],
          limit: int, filters: Filters | None, signals: Mapping[str, str]) -> tuple[Hit, ...]:
    final = np.zeros(len(index.ids), np.float32)
    source = np.full(len(index.ids), -1, np.int64)
    for number, (sentence, result) in enumerate(scored):
        if result.answers or sentence.derived:
            better = result.final * np.float32(sentence.weight)
            source[better > final] = number
            final = np.maximum(final, better)
    signalled = _signalled(index, signals)
    for at in signalled:
        final[at] = SIGNAL_SCORE + (1 - SIGNAL_SCORE) * final[at]
    # What is no answer to the query at all stays none however it is filtered.
    floor = MIN_OF_BEST * float(final.max(initial=0.0))
    if filters is not None:
        final = np.where(np.isin(index.ids, allowed(connection, filters)), final, np.float32(0))
    ranked = [at for at in top(final, limit).tolist() if final[at] > 0 and final[at] >= floor]
    contents, lines = _contents(connection, index, ranked), lines_of(connection, index, ranked)
    return tuple(_hit(contents[at], line, final, at, signalled.get(at),
                      scored[source[at]] if source[at] >= 0 else None)
                 for at, line in zip(ranked, lines, strict=True))


def _signalled(index: Index, signals: Mapping[str, str]) -> dict[int, str]:
    return {at: signals[name] for at, name in enumerate(index.names) if name in signals} if signals else {}


def _hit(record: dict[str, object], lines: Lines, final: F32, at: int, signal: str | None,
         best: tuple[Sentence, Scored] | None) -> Hit:
    reasons = [signal] if signal else []
    if best is not None:
        sentence, result = best
        reasons += [sentence.because] if sentence.because else []
        reasons += why(record, lines, result.wanted, result.matched.get(at, []), result.nearest.get(at))
    return Hit(str(record["name"]), round(float(final[at]), 4), str(record["title"]), str(record["kind"]),
               "; ".join(dict.fromkeys(reasons)))


def _contents(connection: sqlite3.Connection, index: Index, positions: list[int]) -> dict[int, dict[str, object]]:
    place = {int(index.ids[at]): at for at in positions}
    rows = connection.execute(f"SELECT id, content FROM skeletons WHERE id IN ({', '.join('?' * len(place))})",
                              tuple(place))
    return {place[row]: json.loads(content) for row, content in rows}


def _ensure_indexed(database: Database, model: str) -> None:
    """Encode what has no vectors of `model` yet; the packaged model's are there since the database was filled."""
    with database.reading() as connection:
        (missing,) = connection.execute(
            "SELECT count(*) FROM skeletons WHERE id NOT IN (SELECT skeleton FROM vectors WHERE model = ?)",
            (model,)).fetchone()
    if missing:
        from .embedding.encoder import encoder_of
        from .fill import raw
        from .indexing import encode_missing

        encoder = encoder_of(model)
        with database.writing() as session:
            encode_missing(raw(session), encoder)
