"""Writing what search reads: words, vectors and facets of every record. Runs when the database is filled."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from .embedding.arrays import np
from .embedding.encoder import Encoder, encoder_of
from .embedding.model import DEFAULT_MODEL
from .embedding.shipped import centre, out_of_scope, texts_sha256, unpack
from .passages import ASIDE, FIELD_WEIGHTS, embedded, passages
from .stems import stems
from .synonyms import phrases
from .terms import terms

ASIDE_SHARE = 0.4
"""What a word counts that a record holds only in its evidence or occurrences."""
SCOPE_ROW = 0
Posting = dict[str, tuple[float, float]]
"""Stem or phrase to (occurrences by weight of field, share)."""
Shipped = Mapping[str, bytes]
Kept = dict[str, list[tuple[str, bytes, bytes]]]
"""Model, vectors and centre by the hash of the texts."""


def index_all(connection: sqlite3.Connection, ready: Shipped) -> None:
    """Index every record anew; `ready` holds vectors of the packaged model by the hash of their texts.

    What the index holds of texts that have not changed is not encoded again.
    """
    kept = _kept_vectors(connection)
    ready = {digest: vectors for digest, rows in kept.items()
             for model, vectors, _ in rows if model == DEFAULT_MODEL} | dict(ready)
    for table in ("texts", "postings", "facets", "vectors"):
        connection.execute(f"DELETE FROM {table}")
    lists: dict[str, tuple[list[int], list[float], list[float]]] = {}
    for row, content in connection.execute("SELECT id, content FROM skeletons ORDER BY id").fetchall():
        record = json.loads(content)
        for term, (weight, share) in _index_text(connection, row, record).items():
            posting = lists.setdefault(term, ([], [], []))
            posting[0].append(row)
            posting[1].append(weight)
            posting[2].append(share)
        texts = embedded(record)
        _index_vectors(connection, row, texts, encoder_of, ready)
        _restore(connection, row, texts, kept)
    connection.executemany("INSERT INTO postings VALUES (?, ?, ?, ?)",
                           ((term, *_packed(*posting)) for term, posting in lists.items()))
    _index_vectors(connection, SCOPE_ROW, out_of_scope(), encoder_of, ready)
    _restore(connection, SCOPE_ROW, out_of_scope(), kept)
    touch(connection)


def index_one(connection: sqlite3.Connection, row: int, content: str) -> None:
    """Index one new record."""
    record = json.loads(content)
    for term, (weight, share) in _index_text(connection, row, record).items():
        old = connection.execute("SELECT skeletons, weights, shares FROM postings WHERE term = ?", (term,)).fetchone()
        added = _packed([row], [weight], [share])
        whole = tuple(a + b for a, b in zip(old, added, strict=True)) if old else added
        connection.execute("INSERT OR REPLACE INTO postings VALUES (?, ?, ?, ?)", (term, *whole))
    _index_vectors(connection, row, embedded(record), encoder_of, {})
    touch(connection)


def forget_one(connection: sqlite3.Connection, row: int) -> None:
    """Take one record out of the index."""
    found = connection.execute("SELECT stems FROM texts WHERE skeleton = ?", (row,)).fetchone()
    for term in _terms_of(json.loads(found[0])) if found else ():
        old = connection.execute("SELECT skeletons, weights, shares FROM postings WHERE term = ?", (term,)).fetchone()
        if old:
            keep = np.frombuffer(old[0], "<i8") != row
            left = [np.frombuffer(column, kind)[keep].tobytes()
                    for column, kind in zip(old, ("<i8", "<f4", "<f4"), strict=True)]
            connection.execute("UPDATE postings SET skeletons = ?, weights = ?, shares = ? WHERE term = ?",
                               (*left, term))
    for table in ("texts", "facets", "vectors"):
        connection.execute(f"DELETE FROM {table} WHERE skeleton = ?", (row,))
    touch(connection)


def encode_missing(connection: sqlite3.Connection, encoder: Encoder) -> int:
    """Give every record vectors of `encoder`'s model, where it has none; the number of records encoded."""
    rows = connection.execute(
        "SELECT id, content FROM skeletons WHERE id NOT IN (SELECT skeleton FROM vectors WHERE model = ?)",
        (encoder.name,)).fetchall()
    for row, content in rows:
        _index_vectors(connection, row, embedded(json.loads(content)), lambda: encoder, {})
    scope = connection.execute("SELECT texts_sha256 FROM vectors WHERE skeleton = ? AND model = ?",
                               (SCOPE_ROW, encoder.name)).fetchone()
    if scope is None or scope[0] != texts_sha256(out_of_scope()):
        _index_vectors(connection, SCOPE_ROW, out_of_scope(), lambda: encoder, {})
    if rows:
        touch(connection)
    return len(rows)


def touch(connection: sqlite3.Connection) -> None:
    """Tell processes that hold the index in memory to read it again."""
    connection.execute("INSERT INTO meta VALUES ('index', '1') "
                       "ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1")


def _index_text(connection: sqlite3.Connection, row: int, record: Mapping[str, Any]) -> Posting:
    found = passages(record)
    said = [terms(passage.text) for passage in found]
    stem = stems(word for words in said for word in words)
    lines = [" ".join(stem[word] for word in words) for words in said]
    connection.execute("INSERT INTO texts VALUES (?, ?, ?)",
                       (row, sum(map(len, said)), json.dumps(lines, ensure_ascii=False)))
    connection.executemany("INSERT OR IGNORE INTO facets VALUES (?, ?, ?)",
                           ((row, facet, value) for facet, value in _facets(record)))
    posting: Posting = {}
    for passage, line in zip(found, lines, strict=True):
        share = ASIDE_SHARE if passage.field in ASIDE else 1.0
        for term, count in _counts(line).items():
            weight, best = posting.get(term, (0.0, 0.0))
            posting[term] = weight + count * FIELD_WEIGHTS[passage.field], max(best, share)
    return posting


def _counts(line: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in line.split():
        counts[word] = counts.get(word, 0) + 1
    padded = f" {line} "
    for phrase in phrases():
        if count := padded.count(f" {phrase} "):
            counts[phrase] = count
    return counts


def _terms_of(lines: Iterable[str]) -> set[str]:
    return {term for line in lines for term in _counts(line)}


def _facets(record: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    yield "kind", record["kind"]
    yield "numerics", record["numerics"]["result"]
    architectures = {limit.get("architecture", "any") for limit in record.get("limits", ())} - {"any"}
    for architecture in architectures or {"any"}:
        yield "architecture", architecture
    for source in record.get("sources", ()):
        yield "source", source["repository"].lower()
    for names in record.get("interactions", {}).values():
        for name in names:
            yield "related", name


def _index_vectors(connection: sqlite3.Connection, row: int, texts: tuple[str, ...],
                   encoder: Any, ready: Shipped) -> None:
    digest = texts_sha256(texts)
    stored = ready.get(digest)
    model = DEFAULT_MODEL
    if stored is None:
        made: Encoder = encoder()
        model = made.name
        vectors = made.encode(texts)
        stored = vectors.astype("<f2").tobytes()
        middle = centre(vectors)
    else:
        middle = centre(unpack(stored))
    connection.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)",
                       (row, model, digest, stored, middle.astype("<f2").tobytes()))


def _restore(connection: sqlite3.Connection, row: int, texts: tuple[str, ...], kept: Kept) -> None:
    digest = texts_sha256(texts)
    connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?, ?)",
                           ((row, model, digest, vectors, middle) for model, vectors, middle in kept.get(digest, ())))


def _kept_vectors(connection: sqlite3.Connection) -> Kept:
    kept: Kept = {}
    for digest, *rest in connection.execute("SELECT DISTINCT texts_sha256, model, vectors, centre FROM vectors"):
        kept.setdefault(digest, []).append((rest[0], rest[1], rest[2]))
    return kept


def _packed(rows: list[int], weights: list[float], shares: list[float]) -> tuple[bytes, bytes, bytes]:
    return np.array(rows, "<i8").tobytes(), np.array(weights, "<f4").tobytes(), np.array(shares, "<f4").tobytes()
