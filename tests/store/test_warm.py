"""A process that is made ready for its first query, and the ways that search reads vectors."""

from pathlib import Path

import numpy as np
import pytest

from skel.store import index, search
from skel.store.code_features import FEATURES
from skel.store.database import Database
from skel.store.embedding.light import LightEncoder
from skel.store.embedding.model import DEFAULT_MODEL
from skel.store.profiler import SYMPTOMS
from skel.store.search import answer
from skel.store.warm import warm_up
from tests.store.judged import OWN, judged
from tests.store.synthetic import synthetic_database


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Database:
    """More records than every sentence of which is compared."""
    return synthetic_database(tmp_path_factory.mktemp("many") / "skel.db", index.EXACT_RECORDS + 200)


def held(database: Database) -> index.Index:
    with database.reading() as connection:
        return index.index_of(connection, database.path)


def test_what_the_first_queries_would_wait_for_is_there(many: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    warm_up(many)
    vectors = held(many).vectors[DEFAULT_MODEL]
    assert vectors.packed is not None and len(vectors.packed) == vectors.starts[-1] > 8 * index.EXACT_RECORDS
    assert {text for _, text in held(many).derived} == {*SYMPTOMS, *(feature.symptom for feature in FEATURES)}
    encoded: list[str] = []
    real = LightEncoder.encode
    monkeypatch.setattr(LightEncoder, "encode", lambda self, texts: [encoded.extend(texts), real(self, texts)][1])
    answer(many, "stall barrier is the top stall reason")
    answer(many, "x / tl.sqrt(y); tl.load(p); tl.load(p)")
    assert encoded == ["stall barrier is the top stall reason"]  # not the symptoms that they are read as


def test_answers_do_not_depend_on_where_the_vectors_lie(many: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = [item.query for item in judged(OWN)][::5]
    warm_up(many)
    wanted = [answer(many, query) for query in queries]
    index._indices.clear()
    monkeypatch.setattr(index, "HELD_RECORDS", 0)  # read from the database for every query
    assert [answer(many, query) for query in queries] == wanted
    assert held(many).vectors[DEFAULT_MODEL].packed is None


def test_an_empty_database_can_be_warmed(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    from skel.store.database import open_database

    empty = open_database(str(tmp_path / "skel.db"), tmp_path / "none")
    warm_up(empty)
    assert search.search(empty, "overflow") == ()


def test_vectors_held_are_those_stored(many: Database) -> None:
    warm_up(many)
    vectors = held(many).vectors[DEFAULT_MODEL]
    positions = np.array([0, 7, index.EXACT_RECORDS], np.int64)
    with many.reading() as connection:
        found, counts = index.sentences_of(connection, held(many), vectors, DEFAULT_MODEL, positions)
        rows = [connection.execute("SELECT vectors FROM vectors WHERE model = ? AND skeleton = ?",
                                   (DEFAULT_MODEL, int(held(many).ids[at]))).fetchone()[0] for at in positions]
    assert counts.tolist() == [len(row) // 768 for row in rows]
    assert (found == np.frombuffer(b"".join(rows), "<f2").astype(np.float32).reshape(-1, 384)).all()
