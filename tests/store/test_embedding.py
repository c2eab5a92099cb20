"""The light encoder, the vectors that ship, and other models."""

import math
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skel.store.database import Database, open_database
from skel.store.embedding import encoder, model, products, ship
from skel.store.embedding.arrays import F32
from skel.store.embedding.encoder import SentenceEncoder, encoder_of
from skel.store.embedding.layer import gelu
from skel.store.embedding.light import LightEncoder, light_encoder
from skel.store.embedding.local import is_local
from skel.store.embedding.shipped import read_vectors, shipped, texts_sha256, unpack, write_vectors
from skel.store.errors import StoreError
from skel.store.packaged import packaged_folder
from skel.store.records import add_skeleton, get_skeleton
from skel.store.search import answer

TEXTS = ["long-context decode attention", "tl.load(ptr + offs, mask=m) " * 60, "每步都写回显存", "", "É ñ \u0301 \x00",
         "TMA multicast across a cluster of thread blocks"]


def test_the_light_encoder_is_sentence_transformers() -> None:
    light, record = light_encoder(), SentenceEncoder()
    wanted = record.encode(TEXTS)
    fresh = LightEncoder()
    firsts = np.concatenate([LightEncoder().encode([text]) for text in TEXTS])  # on the weights as they lie in the file
    fresh.prepare()
    for found in (firsts, fresh.encode(TEXTS), light.encode(TEXTS)):
        assert np.abs(found - wanted).max() < 2e-6


@settings(deadline=None, max_examples=30)
@given(st.text(max_size=200))
def test_any_text_gives_a_unit_vector(text: str) -> None:
    (vector,) = light_encoder().encode([text])
    assert vector.shape == (model.DIMENSIONS,) and abs(float(vector @ vector) - 1) < 1e-5


def test_the_weights_are_those_meant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model.check_weights()
    assert model.WEIGHTS_SHA256.startswith("53aa5117") and model.WEIGHTS_SHA256.endswith("fab128d9db")
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", 2) + b"{}")
    monkeypatch.setattr(model, "model_folder", lambda: tmp_path)
    with pytest.raises(StoreError, match="not those that skel was built for"):
        model.check_weights()


def test_shipped_vectors_are_up_to_date() -> None:
    """If this fails, a record's texts changed: run `python -m skel.store.embedding.ship`."""
    assert [path for path, _ in ship.stale(packaged_folder())] == []


def test_shipped_vectors_are_those_of_the_encoder() -> None:
    ready = shipped(packaged_folder())
    texts = ship.embedded(next(iter(ship.load_all(packaged_folder()))).model_dump(mode="json"))
    held = unpack(ready[texts_sha256(texts)])
    assert np.abs(held - light_encoder().encode(texts)).max() < 1e-3


def test_a_damaged_vector_file_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    vectors = light_encoder().encode(["a", "b"])
    write_vectors(path, ["a", "b"], vectors)
    good = read_vectors(path)
    assert good is not None and good[0] == texts_sha256(["a", "b"]) and len(unpack(good[1])) == 2
    content = path.read_bytes()
    for broken in (b"", content[:50], content[:-1], b"X" + content[1:], content[:8] + b"\0" * 32 + content[40:]):
        path.write_bytes(broken)
        assert read_vectors(path) is None
    assert read_vectors(tmp_path / "none") is None


class Toy:
    """A model that knows one word."""

    name = "toy"

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> F32:
        self.encoded += texts
        return np.array([[0.0, 1.0] if "overflow" in text or "wraps" in text else [1.0, 0.0] for text in texts],
                        np.float32)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    made = Toy()
    real = encoder_of

    def by_name(name: str = model.DEFAULT_MODEL) -> encoder.Encoder:
        return made if name == "toy" else real(name)

    for place in ("skel.store.embedding.encoder", "skel.store.ranking", "skel.store.indexing"):
        monkeypatch.setattr(f"{place}.encoder_of", by_name)
    return made


def test_another_model_is_indexed_once_and_again_where_records_change(database: Database, toy: Toy) -> None:
    assert answer(database, "overflow", model="toy").hits[0].name == "wide_index"
    count = len(toy.encoded)
    assert count > 4
    answer(database, "wraps", model="toy")
    assert len(toy.encoded) == count + 1  # the query alone
    mine = get_skeleton(database, "wide_index").model_copy(update={"name": "mine"})
    add_skeleton(database, mine)
    assert {hit.name for hit in answer(database, "overflow", model="toy").hits} >= {"mine", "wide_index"}
    assert len(toy.encoded) > count + 2


def test_vectors_of_another_model_survive_a_refill(
        database: Database, records: Path, write: Callable[..., Path], toy: Toy) -> None:
    answer(database, "overflow", model="toy")
    toy.encoded.clear()
    write("share_norm", summary="Something else.")
    again = open_database(str(database.path), records)
    answer(again, "overflow", model="toy")
    assert "Something else." in toy.encoded
    assert not any("eviction" in text.lower() for text in toy.encoded)  # the other records kept theirs


@pytest.mark.parametrize("name", ["/nonexistent/model", "no-such-model", "nobody/no-such-model", "..", ""])
def test_a_model_that_is_not_here_is_named_before_anything_slow_is_imported(
        database: Database, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)  # importing it would raise ImportError
    with pytest.raises(StoreError, match="not on this machine"):
        answer(database, "overflow", model=name)


def test_a_model_in_the_cache_is_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    for variable in ("SENTENCE_TRANSFORMERS_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    assert not is_local("mini") and not is_local("someone/other")
    for folder in ("models--sentence-transformers--mini", "models--someone--other"):
        (tmp_path / "hub" / folder / "snapshots" / "abc").mkdir(parents=True)
    assert not is_local("mini")  # an empty snapshot is no model
    for folder in ("models--sentence-transformers--mini", "models--someone--other"):
        (tmp_path / "hub" / folder / "snapshots" / "abc" / "config.json").write_text("{}")
    assert is_local("mini") and is_local("sentence-transformers/mini") and is_local("someone/other")


@pytest.mark.parametrize(("rows", "depth", "columns"), [(1, 384, 384), (7, 384, 1536), (97, 1536, 384)])
def test_products_in_blocks_are_the_products(rows: int, depth: int, columns: int) -> None:
    generator = np.random.default_rng(rows)
    x = generator.standard_normal((rows, depth), np.float32)
    weight = generator.standard_normal((columns, depth), np.float32)
    wanted = x.astype(np.float64) @ weight.astype(np.float64).T
    bias = generator.standard_normal(columns, np.float32)
    stored = products.as_stored([weight], [bias])
    side_by_side = products.as_stored([weight, 2 * weight], [bias, bias])
    for linear, whole in ((stored, wanted + bias), (side_by_side, np.hstack([wanted + bias, 2 * wanted + bias]))):
        (quick,) = products.transposed([linear])
        for found in (linear(x), quick(x)):
            assert found.shape == whole.shape and np.abs(found - whole).max() < 2e-3


def test_the_activation_is_exact() -> None:
    x = np.concatenate([np.linspace(-12, 12, 200_001), [-1e3, -60.0, 60.0, 1e3]]).astype(np.float32)
    wanted = [float(each) / 2 * (1 + math.erf(float(each) / math.sqrt(2))) for each in x]
    error = np.abs(gelu(x.copy()) - np.array(wanted))
    assert (error <= 2e-7 * np.maximum(np.abs(x), 1)).all()


def test_unpacking_is_a_conversion_to_float32() -> None:
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    assert (unpack(halves.tobytes(), 2).ravel().view(np.int32) == halves.astype(np.float32).view(np.int32)).all()


def test_a_refill_encodes_only_what_is_new(
        database: Database, records: Path, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    add_skeleton(database, get_skeleton(database, "wide_index").model_copy(update={"name": "mine", "title": "Mine"}))
    encoded: list[str] = []
    real = LightEncoder.encode
    monkeypatch.setattr(LightEncoder, "encode", lambda self, texts: [encoded.extend(texts), real(self, texts)][1])
    write("share_norm", summary="Something else.")
    open_database(str(database.path), records)
    assert "Something else." in encoded
    assert not any("Mine" in text or "eviction" in text.lower() for text in encoded)
