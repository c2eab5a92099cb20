"""Records by the thousand for measuring search: the words of the packaged records in random order.

Their vectors are random too, spread around the mean of the packaged ones as closely as those are, so that nothing has
to be encoded and they are near a query as often as a record on another subject would be.
"""

import hashlib
import json
import sqlite3
from pathlib import Path

from skel.store.database import Database, open_database
from skel.store.embedding.arrays import F32, np
from skel.store.embedding.shipped import shipped, texts_sha256, unpack
from skel.store.fill import raw
from skel.store.indexing import index_all
from skel.store.load import load_all
from skel.store.packaged import packaged_folder
from skel.store.passages import embedded, passages

SENTENCES, WORDS = 8, 12


def synthetic_database(path: Path, count: int) -> Database:
    """A database of the packaged records and `count` synthetic ones."""
    database = open_database(str(path))
    ready = shipped(packaged_folder())
    vectors = unpack(b"".join(ready.values()))
    records, made = _records(count, vectors)
    with database.writing() as session:
        connection = raw(session)
        connection.executemany(
            "INSERT INTO skeletons (name, origin, title, kind, purpose, advice, content, content_sha256) "
            "VALUES (?, 'user', ?, 'local', 'speed', 1, ?, ?)", records)
        index_all(connection, {**ready, **made})
    return database


def _records(count: int, vectors: F32) -> tuple[list[tuple[str, str, str, str]], dict[str, bytes]]:
    generator = np.random.default_rng(7)
    vocabulary = sorted({word for record in load_all() for passage in passages(record.model_dump(mode="json"))
                         for word in passage.text.split() if word.isascii()})
    # Zipf: a few words are in most records, as in any language, and their lists are the long ones.
    chances = 1 / np.arange(1, len(vocabulary) + 1)
    words = generator.choice(generator.permutation(vocabulary), (count, SENTENCES, WORDS), p=chances / chances.sum())
    mean, spread = vectors.mean(0), vectors.std(0)
    rows, made = [], {}
    for number in range(count):
        sentences = [f"{' '.join(sentence)} {number}." for sentence in words[number].tolist()]
        record = {"name": f"synthetic_{number}", "title": sentences[0], "summary": sentences[1],
                  "symptoms": {"en": sentences[2:], "zh": []}, "kind": "local",
                  "numerics": {"result": "bitwise", "why": "It is not applied."}}
        content = json.dumps(record)
        texts = embedded(record)
        noise = mean + spread * generator.standard_normal((len(texts), len(mean)))
        made[texts_sha256(texts)] = (noise / np.linalg.norm(noise, axis=1, keepdims=True)).astype("<f2").tobytes()
        rows.append((record["name"], record["title"], content, hashlib.sha256(content.encode()).hexdigest()))
    return rows, made


def size(connection: sqlite3.Connection) -> int:
    """Number of records."""
    return int(connection.execute("SELECT count(*) FROM skeletons").fetchone()[0])
