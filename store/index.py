"""The index as search reads it: arrays over all records, kept in memory between the queries of a process."""

import json
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .embedding.arrays import F32, I16, I64, np
from .embedding.shipped import unpack
from .indexing import SCOPE_ROW

if TYPE_CHECKING:
    from .ranking import Scored

EXACT_RECORDS = 1000
"""Up to this many records every sentence is compared; above, those of the records whose centres are nearest."""
HELD_RECORDS = 20_000
"""Up to this many the sentences of all lie in memory from the second query of a process on, 6 kB a record."""
_KEPT_INDICES = 4
_KEPT_RECORDS = 1000
"""Records whose texts are kept: those that answer one query often answer the next."""


@dataclass(frozen=True, slots=True)
class Posting:
    """Where a term occurs: positions in `Index.ids`, with weight and share (see `models.PostingRow`)."""

    at: I64
    weights: F32
    shares: F32


_NOWHERE = Posting(np.zeros(0, np.int64), np.zeros(0, np.float32), np.zeros(0, np.float32))


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of one model."""

    centres: F32
    """[records, dimensions]; zeros where a record has none."""
    scope: F32
    """[topics, dimensions]: what no record treats."""
    sentences: F32 | None
    """[sentences, dimensions] of all records, in their order; None where there are too many to compare."""
    starts: I64
    """The first sentence of each record, and the number of all at the end; meaningless where none are held."""
    packed: I16 | None = None
    """The same as `sentences` in their stored form, where there are too many to compare but not to hold."""

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
    derived: dict[tuple[str, str], "Scored"] = field(default_factory=dict)
    """By model and text, how the records score on the symptoms that code and profiler output are read as: these are
    a few dozen sentences of ours, and many queries come to the same ones."""

    def postings(self, connection: sqlite3.Connection, terms: Sequence[str]) -> dict[str, Posting]:
        """Where each of `terms` (stems, or stems with a space between) occurs."""
        rows = connection.execute("SELECT term, skeletons, weights, shares FROM postings WHERE term IN "
                                  f"({', '.join('?' * len(terms))})", terms)
        return dict.fromkeys(terms, _NOWHERE) | {
            term: Posting(np.searchsorted(self.ids, np.frombuffer(at, "<i8")).astype(np.int64),
                          np.frombuffer(weights, "<f4"), np.frombuffer(shares, "<f4"))
            for term, at, weights, shares in rows}

    def of_model(self, connection: sqlite3.Connection, model: str) -> Vectors:
        """The vectors of one model."""
        found = self.vectors.get(model)
        if found is None:
            found = self.vectors[model] = _read_vectors(connection, self.ids, model)
        elif found.sentences is None and found.packed is None and len(self.ids) <= HELD_RECORDS:
            packed, starts = _read_packed(connection, self.ids, model, found.dimensions)
            found = self.vectors[model] = replace(found, packed=packed, starts=starts)
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


def lines_of(connection: sqlite3.Connection, index: Index, positions: list[int]) -> list[tuple[tuple[str, ...], ...]]:
    """The stems of the passages of some records."""
    kept = {at: index.lines.get(at) for at in positions}
    missing = [at for at, lines in kept.items() if lines is None]
    found = _by_position(connection, index, "SELECT skeleton, stems FROM texts WHERE", (), missing)
    read = {at: tuple(tuple(line.split()) for line in json.loads(stems)) for at, stems in found.items()}
    if len(index.lines) + len(read) > _KEPT_RECORDS:
        index.lines.clear()
    index.lines.update(read)
    return [kept[at] or read[at] for at in positions]


def sentences_of(connection: sqlite3.Connection, index: Index, vectors: Vectors, model: str,
                 positions: I64) -> tuple[F32, I64]:
    """The vectors of the sentences of some records, one record after another, and how many each has.

    `positions` are sorted; where all sentences are held they are those of all records.
    """
    if vectors.sentences is not None:
        return vectors.sentences, np.diff(vectors.starts)
    if vectors.packed is not None:
        firsts, ends = vectors.starts[positions], vectors.starts[positions + 1]
        parts = [vectors.packed[first:end] for first, end in zip(firsts.tolist(), ends.tolist(), strict=True)]
        return unpack(np.concatenate(parts), vectors.dimensions), ends - firsts
    blobs = _by_position(connection, index, "SELECT skeleton, vectors FROM vectors WHERE model = ? AND", (model,),
                         positions.tolist())
    each = [blobs.get(at, b"") for at in positions.tolist()]
    counts = np.array([len(blob) // (2 * vectors.dimensions) for blob in each], np.int64)
    return unpack(b"".join(each), vectors.dimensions), counts


def _by_position(connection: sqlite3.Connection, index: Index, select: str, given: tuple[str, ...],
                 positions: list[int]) -> dict[int, Any]:
    """The second column of some records' rows, by position."""
    place = {int(index.ids[at]): at for at in positions}
    if not place:
        return {}
    rows = connection.execute(f"{select} skeleton IN ({', '.join('?' * len(place))})", (*given, *place))
    return {place[row]: value for row, value in rows}


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


def _read_packed(connection: sqlite3.Connection, ids: I64, model: str, dimensions: int) -> tuple[I16, I64]:
    """The sentences of all records as they are stored, [sentences, dimensions], and where those of each start."""
    given = (model, SCOPE_ROW)
    counts = np.zeros(len(ids), np.int64)
    rows = connection.execute("SELECT skeleton, length(vectors) FROM vectors WHERE model = ? AND skeleton <> ?", given)
    for row, length in rows:
        counts[np.searchsorted(ids, row)] = length // (2 * dimensions)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    packed = np.empty((int(starts[-1]), dimensions), np.int16)
    rows = connection.execute("SELECT skeleton, vectors FROM vectors WHERE model = ? AND skeleton <> ?", given)
    for row, blob in rows:
        first = starts[np.searchsorted(ids, row)]
        packed[first:first + len(blob) // (2 * dimensions)] = np.frombuffer(blob, "<i2").reshape(-1, dimensions)
    return packed, starts
