"""The index as search reads it: arrays over all records, kept in memory between the queries of a process."""

import sqlite3
import threading
from dataclasses import dataclass, field
from pathlib import Path

from .embedding.arrays import F32, I64, np
from .embedding.shipped import unpack
from .indexing import SCOPE_ROW

EXACT_RECORDS = 1000
"""Up to this many records every sentence is compared; above, those of the records whose centres are nearest."""
_KEPT_INDICES = 4


@dataclass(frozen=True, slots=True)
class Posting:
    """Where a term occurs: positions in `Index.ids`, with weight and share (see `models.PostingRow`)."""

    at: I64
    weights: F32
    shares: F32


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of one model."""

    centres: F32
    """[records, dimensions]; zeros where a record has none."""
    scope: F32
    """[topics, dimensions]: what no record treats."""
    sentences: F32 | None
    """[sentences, dimensions] of all records, in their order; None where there are too many to hold."""
    starts: I64
    """The first sentence of each record, and the number of all at the end."""

    @property
    def dimensions(self) -> int:
        return int(self.centres.shape[1])


@dataclass(slots=True)
class Index:
    """One state of the index. `ids` is sorted."""

    version: str
    ids: I64
    names: list[str]
    lengths: F32
    relations: dict[int, set[int]]
    """By position, the positions of the records that one names or that name it."""
    mean_length: float
    strengths: dict[str, tuple[I64, F32]] = field(default_factory=dict)
    """What the scorer of words has made of postings: by stem, positions and how strongly each record speaks of it."""
    vectors: dict[str, Vectors] = field(default_factory=dict)

    def posting(self, connection: sqlite3.Connection, term: str) -> Posting:
        """Where `term` (a stem, or stems with a space between) occurs."""
        row = connection.execute("SELECT skeletons, weights, shares FROM postings WHERE term = ?",
                                 (term,)).fetchone() or (b"", b"", b"")
        at = np.searchsorted(self.ids, np.frombuffer(row[0], "<i8")).astype(np.int64)
        return Posting(at, np.frombuffer(row[1], "<f4"), np.frombuffer(row[2], "<f4"))

    def of_model(self, connection: sqlite3.Connection, model: str) -> Vectors:
        """The vectors of one model."""
        found = self.vectors.get(model)
        if found is None:
            found = self.vectors[model] = _read_vectors(connection, self.ids, model)
        return found


_indices: dict[Path, Index] = {}
_lock = threading.Lock()


def index_of(connection: sqlite3.Connection, path: Path) -> Index:
    """The index of the database at `path` as `connection` sees it; read again where records have changed."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'index'").fetchone()
    version = str(row[0]) if row else ""
    with _lock:
        held = _indices.get(path)
        if held is None or held.version != version:
            held = _read(connection, version)
            while len(_indices) >= _KEPT_INDICES:
                _indices.pop(next(iter(_indices)))
            _indices[path] = held
        return held


def sentences_of(connection: sqlite3.Connection, index: Index, vectors: Vectors, model: str,
                 positions: I64) -> tuple[F32, I64]:
    """The vectors of the sentences of some records, one record after another, and how many each has.

    `positions` are sorted; where all sentences are held they are those of all records.
    """
    if vectors.sentences is not None:
        return vectors.sentences, np.diff(vectors.starts)
    ids = index.ids[positions].tolist()
    rows = dict(connection.execute(
        f"SELECT skeleton, vectors FROM vectors WHERE model = ? AND skeleton IN ({', '.join('?' * len(ids))})",
        (model, *ids)))
    found = [rows.get(row, b"") for row in ids]
    counts = np.array([len(blob) // (2 * vectors.dimensions) for blob in found], np.int64)
    return unpack(b"".join(found), vectors.dimensions), counts


def _read(connection: sqlite3.Connection, version: str) -> Index:
    rows = connection.execute("SELECT s.id, s.name, t.length FROM skeletons s JOIN texts t ON t.skeleton = s.id "
                              "ORDER BY s.id").fetchall()
    names = [name for _, name, _ in rows]
    at = {name: position for position, name in enumerate(names)}
    ids = np.array([row for row, _, _ in rows], np.int64)
    position = {int(row): place for place, row in enumerate(ids)}
    relations: dict[int, set[int]] = {}
    for row, other in connection.execute("SELECT skeleton, value FROM facets WHERE facet = 'related'"):
        if row in position and other in at:
            relations.setdefault(position[row], set()).add(at[other])
            relations.setdefault(at[other], set()).add(position[row])
    lengths = np.array([length for _, _, length in rows], np.float32)
    return Index(version, ids, names, lengths, relations, max(float(lengths.mean()), 1.0) if rows else 1.0)


def _read_vectors(connection: sqlite3.Connection, ids: I64, model: str) -> Vectors:
    small = len(ids) <= EXACT_RECORDS
    rows = connection.execute(
        f"SELECT skeleton, centre, {'vectors' if small else 'NULL'} FROM vectors WHERE model = ? AND skeleton <> ? "
        "ORDER BY skeleton", (model, SCOPE_ROW)).fetchall()
    dimensions = len(rows[0][1]) // 2 if rows else 1
    centres = np.zeros((len(ids), dimensions), np.float32)
    at = np.searchsorted(ids, np.array([row for row, _, _ in rows], np.int64))
    centres[at] = unpack(b"".join(centre for _, centre, _ in rows), dimensions)
    scope = connection.execute("SELECT vectors FROM vectors WHERE model = ? AND skeleton = ?",
                               (model, SCOPE_ROW)).fetchone()
    counts = np.zeros(len(ids), np.int64)
    if small and rows:
        counts[at] = [len(blob) // (2 * dimensions) for _, _, blob in rows]
    return Vectors(centres, unpack(scope[0] if scope else b"", dimensions),
                   unpack(b"".join(blob for _, _, blob in rows), dimensions) if small else None,
                   np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]))
