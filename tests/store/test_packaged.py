"""Search over the records that ship, asked the way users ask; none of the queries is a sentence of a record."""

from pathlib import Path

import pytest

from skel.store.database import Database, open_database
from skel.store.load import load_all
from skel.store.records import get_skeleton, list_skeletons
from skel.store.search import search


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return open_database(str(tmp_path_factory.mktemp("store") / "skel.db"))


@pytest.mark.parametrize(("query", "meant"), [
    ("redundant normalization", "fuse_vtiles"),
    ("matrix-vector product with tall K and only few output tiles leaves the GPU empty", "split_k"),
    ("kernel with too many tiny blocks has a long tail", "persistent_grid"),
    ("wrong results for tensors with more than two billion elements", "int64_offsets"),
    ("two l2norm launches back to back, one for q and one for k", "fuse_sibling_launches"),
    ("JIT compile stalls whenever the batch size changes", "relax_specialization"),
    ("TF32x3 dot", "dot_tf32x3"),
    ("flash decoding", "split_kv"),
    ("shared memory bank conflicts", "swizzle_shared_memory"),
    ("x / tl.sqrt(var + eps)", "div_to_reciprocal"),
    ("off = pid.to(tl.int64) * stride", "int64_offsets"),
    ("tl.load(p, eviction_policy='evict_last')", "cache_hints"),
    ("local memory spill stores after widening the tile", "loop_tiles"),
    ("偏移量超过 int32 溢出", "int64_offsets"),
    ("指数函数太慢，换成 exp2", "exp_to_exp2"),
    ("fp32 精度损失 tf32", "dot_tf32x3"),
])
def test_the_skeleton_meant_comes_first(packaged: Database, query: str, meant: str) -> None:
    assert [hit.name for hit in search(packaged, query)][:1] == [meant]


@pytest.mark.parametrize("query", [
    "best pizza in berlin", "docker image for cuda 12", "beam search versus nucleus sampling", "bitonic sort network",
    "kubernetes pod memory limit", "install nvidia driver on ubuntu", "image resize with bilinear interpolation",
    "k-means clustering centroid update", "pip fails with an SSL error", "如何安装 cuda 驱动", "今天天气怎么样",
])
def test_what_no_skeleton_answers_gets_no_hits(packaged: Database, query: str) -> None:
    assert search(packaged, query) == ()


def test_every_skeleton_is_found_by_its_title_and_by_its_name(packaged: Database) -> None:
    for listed in list_skeletons(packaged):
        assert search(packaged, listed.title)[0].name == listed.name
        assert search(packaged, listed.name)[0].name == listed.name


def test_every_symptom_finds_its_skeleton_and_is_quoted(packaged: Database) -> None:
    for skeleton in load_all():
        for symptom in (skeleton.symptoms.en[0], *skeleton.symptoms.zh[:1]):
            hit = search(packaged, symptom)[0]
            assert hit.name == skeleton.name and symptom in hit.why


def test_records_come_out_of_the_database_as_they_went_in(packaged: Database) -> None:
    for skeleton in load_all():
        assert get_skeleton(packaged, skeleton.name) == skeleton


def test_the_fingerprint_sees_every_change(tmp_path: Path) -> None:
    from skel.store.packaged import fingerprint

    (tmp_path / "one" / "evidence").mkdir(parents=True)
    seen = {fingerprint(tmp_path)}
    for file, content in (("one/skeleton.yaml", "a"), ("one/skeleton.yaml", "b"), ("one/evidence/x.json", "b"),
                          ("one/evidence/y.json", ""), ("one/evidence/x.json", "")):
        (tmp_path / file).write_text(content)
        seen.add(fingerprint(tmp_path))
    assert len(seen) == 6
