import hashlib
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skel.store.query import MAX_TERMS, match_expression, parse
from skel.store.stems import TOKENIZER, stems
from skel.store.synonyms import synonyms
from skel.store.terms import ANALYSIS_VERSION, terms

SAMPLE = "RMSNorm of q/k; split-k SMs, cudaStreamSynchronize évict_first normalisation 1e-5 bf16 2^31 归一化：每步 ＫＶ"


@pytest.mark.parametrize(("text", "expected"), [
    ("Every Tile", ["every", "tile"]),
    ("RMSNorm", ["rmsnorm", "rms", "norm"]),
    ("SMs CTAs", ["sm", "cta"]),
    ("split-k", ["split", "k", "splitk"]),
    ("input_precision", ["input", "precision", "inputprecision"]),
    ("min(next_power_of_2(V), 8)", ["min", "next", "power", "of", "2", "v", "8"]),
    ("fp32 exp2 tf32x3", ["fp32", "exp2", "tf32x3"]),
    ("normalisation specialised", ["normalization", "specialized"]),
    ("归一化", ["归一", "一化"]),
    ("在V方向 切", ["在", "v", "方向", "切"]),
    ("ＫＶ", ["kv"]),
    ("...", []),
])
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_the_version_of_the_analysis_changes_with_it() -> None:
    """If this fails, `terms` changed: raise ANALYSIS_VERSION, so that databases are indexed anew, and both here."""
    digest = hashlib.sha256(" ".join(terms(SAMPLE)).encode()).hexdigest()
    assert (ANALYSIS_VERSION, digest[:12]) == (1, "e7375e273f72")


@given(st.text())
def test_terms_are_never_empty_and_hold_no_space(text: str) -> None:
    assert all(term and not any(character.isspace() for character in term) for term in terms(text))


@given(st.text(max_size=60))
def test_every_expression_is_valid(text: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(a, tokenize = '{TOKENIZER}')")
        for term in parse(text):
            assert connection.execute("SELECT * FROM t WHERE t MATCH ?",
                                      (match_expression([term.text, *term.others]),)).fetchall() == []


def test_stems_are_those_of_the_index() -> None:
    assert stems(["normalization", "normalized", "repeats", "thread blocks", "归一", "?"]) == {
        "normalization": "normal", "normalized": "normal", "repeats": "repeat", "thread blocks": "thread block",
        "归一": "归一", "?": ""}


def test_synonyms_go_both_ways_and_never_to_oneself() -> None:
    table = synonyms()
    phrase = stems([other for others in table.values() for other in others])
    for term, others in table.items():
        assert term and term not in {phrase[other] for other in others}
        assert all(phrase[other] in table for other in others)


def test_a_query_keeps_what_it_is_about() -> None:
    assert [term.text for term in parse("How do I find why the gate is computed in each tile?")] == [
        "gate", "computed", "tile"]
    assert [term.text for term in parse("为什么每步都写回显存")] == ["每步", "写回", "回显", "显存"]
    assert len(parse(" ".join(f"word{number}" for number in range(1000)))) == MAX_TERMS


def test_numbers_and_code_names_are_optional() -> None:
    assert {term.text: term.optional for term in parse("over 65535 heads")} == {"65535": True, "heads": False}
    assert all(term.optional for term in parse("acc = tl.dot(qk, foo)"))


def test_phrases_have_synonyms_too() -> None:
    by_text = {term.text: term.others for term in parse("special function unit busy")}
    assert "mufu" in by_text["special"] and "mufu" in by_text["unit"] and by_text["busy"] == ()
