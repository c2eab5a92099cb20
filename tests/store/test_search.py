from dataclasses import FrozenInstanceError

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skel.store.database import Database
from skel.store.search import Hit, search


def found(database: Database, query: str) -> list[str]:
    return [hit.name for hit in search(database, query)]


@pytest.mark.parametrize(("query", "first"), [
    ("redundant normalization", "share_norm"),
    ("the same RMS norm is repeated in each tile", "share_norm"),
    ("redundant normalisation", "share_norm"),
    ("offsets overflow int32 in large tensors", "wide_index"),
    ("split-k", "split_sum"),
    ("splitk gemm", "split_sum"),
    ("matrix multiply with few output tiles", "split_sum"),
    ("evict_last", "cache_policy"),
    ("tl.load(p, eviction_policy='evict_first')", "cache_policy"),
    ("归一化被重复计算", "share_norm"),
    ("为什么偏移量会溢出？", "wide_index"),
    ("share_norm", "share_norm"),
])
def test_the_record_meant_comes_first(database: Database, query: str, first: str) -> None:
    assert found(database, query)[0] == first


@pytest.mark.parametrize("query", [
    "how to install the driver on windows", "best pizza in berlin", "学习率怎么设置", "tree search of chess positions",
    "what is it and how do I do this", "怎么", "", "   ", "?!", "\0", "a", "的",
])
def test_what_nothing_answers_gets_no_hits(database: Database, query: str) -> None:
    assert search(database, query) == ()


def test_one_shared_word_among_many_is_no_answer(database: Database) -> None:
    assert found(database, "tensors") == ["wide_index"]
    assert found(database, "shuffling training datasets of tensors across cloud regions") == []


def test_why_quotes_the_symptom_and_the_words(database: Database) -> None:
    (hit, *_) = search(database, "each tile repeats RMSNorm")
    assert hit.why.startswith('symptom "Every tile repeats the same RMSNorm of its row." (')
    assert {"tile", "repeats", "rmsnorm"} <= set(hit.why.partition("(")[2].partition(")")[0].split(", "))
    (hit, *_) = search(database, "偏移量溢出")
    assert hit.why.startswith('symptom "偏移量溢出导致结果错误。" (')


def test_why_names_the_words_that_stand_for_the_query(database: Database) -> None:
    (hit, *_) = search(database, "duplicate layernorm")
    assert hit.name == "share_norm" and "normalization" in hit.why


def test_hits_are_frozen_ordered_and_limited(database: Database) -> None:
    hits = search(database, "redundant normalization and int64 overflow")
    assert {hit.name for hit in hits} == {"share_norm", "wide_index"}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 < hit.score <= 1 and hit.title and hit.kind == "local" for hit in hits)
    assert search(database, "redundant normalization and int64 overflow", 1) == hits[:1]
    assert search(database, "overflow", 0) == search(database, "overflow", -1) == ()
    with pytest.raises(FrozenInstanceError):
        hits[0].score = 2.0  # type: ignore[misc]


def test_operators_of_the_full_text_language_are_words(database: Database) -> None:
    plain = found(database, "overflow")
    for query in ('"overflow', "overflow*", "overflow AND", "NOT overflow", "NEAR(overflow)",
                  "overflow OR", "(overflow", "^overflow", "{overflow}:", "-overflow", "'overflow'; DROP TABLE search",
                  "overflow\0"):
        assert found(database, query)[:1] == plain, query


def test_a_huge_query_is_cut_and_answered(database: Database) -> None:
    assert found(database, "overflow " * 100_000) == ["wide_index"]
    assert isinstance(search(database, " ".join(f"word{number}" for number in range(20_000))), tuple)
    assert isinstance(search(database, "归" * 50_000), tuple)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=80) | st.lists(st.sampled_from([
    "overflow", "norm", '"', "*", "AND", "NEAR", "(", ")", ":", "-", "^", "\0", "\ud800", "偏移", "，", "１２", "_",
    "\n", "İ", "tags:overflow",
])).map(" ".join))
def test_any_text_is_a_query(database: Database, query: str) -> None:
    hits = search(database, query)
    assert all(isinstance(hit, Hit) for hit in hits)
    assert hits == search(database, query)
