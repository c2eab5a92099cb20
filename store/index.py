"""The index as search reads it: arrays over all records, kept in memory between the queries of a process."""

import json
import sqlite3
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from .embedding.arrays import F32, I64, np
from .embedding.shipped import unpack
from .indexing import SCOPE_ROW

EXACT_RECORDS = 1000
"""Up to this many records every sentence is compared; above, those of the records whose centres are nearest."""
_KEPT_INDICES = 4
_KEPT_RECORDS = 1000
"""Records whose texts and sentences are kept: those that answer one query often answer the next."""


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
    lines: dict[int, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """By position, the stems of each passage; of the records looked at lately."""
    sentences: dict[tuple[str, int], F32] = field(default_factory=dict)
    """By model and position, the vectors of a record's sentences; of the records looked at lately."""

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


K = TypeVar("K")
V = TypeVar("V")
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


def lines_of(connection: sqlite3.Connection, index: Index, positions: list[int]) -> list[tuple[tuple[str, ...], ...]]:
    """The stems of the passages of some records."""
    missing = [at for at in positions if at not in index.lines]
    found = _by_position(connection, index, "SELECT skeleton, stems FROM texts WHERE", (), missing)
    read = {at: tuple(tuple(line.split()) for line in json.loads(stems)) for at, stems in found.items()}
    return _kept(index.lines, read, positions)


def sentences_of(connection: sqlite3.Connection, index: Index, vectors: Vectors, model: str,
                 positions: I64) -> tuple[F32, I64]:
    """The vectors of the sentences of some records, one record after another, and how many each has.

    `positions` are sorted; where all sentences are held they are those of all records.
    """
    if vectors.sentences is not None:
        return vectors.sentences, np.diff(vectors.starts)
    wanted = [(model, at) for at in positions.tolist()]
    missing = [at for _, at in wanted if (model, at) not in index.sentences]
    blobs = _by_position(connection, index, "SELECT skeleton, vectors FROM vectors WHERE model = ? AND", (model,),
                         missing)
    read = {(model, at): unpack(blobs.get(at, b""), vectors.dimensions) for at in missing}
    found = _kept(index.sentences, read, wanted)
    return np.concatenate(found), np.array([len(each) for each in found], np.int64)


def _by_position(connection: sqlite3.Connection, index: Index, select: str, given: tuple[str, ...],
                 positions: list[int]) -> dict[int, Any]:
    """The second column of some records' rows, by position."""
    place = {int(index.ids[at]): at for at in positions}
    if not place:
        return {}
    rows = connection.execute(f"{select} skeleton IN ({', '.join('?' * len(place))})", (*given, *place))
    return {place[row]: value for row, value in rows}


def _kept(kept: dict[K, V], read: dict[K, V], wanted: list[K]) -> list[V]:
    """The values wanted, kept or just read; what was read is kept."""
    found = [read[key] if key in read else kept[key] for key in wanted]
    if len(kept) + len(read) > _KEPT_RECORDS:
        kept.clear()
    kept.update(read)
    return found


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
