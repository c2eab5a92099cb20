"""search, show, list and schema: what they print, for programs and for people."""

from __future__ import annotations

import json

import pytest

from skel.store.load import load_all
from skel.store.schema import Skeleton
from tests.cli.running import Skel

NAMES = [skeleton.name for skeleton in load_all()]


def test_the_symptom_of_redundant_work_finds_fusion_first(skel: Skel) -> None:
    ended = skel("search", "redundant normalization", "--json")
    assert ended.status == 0
    document = ended.document
    assert document["query"] == "redundant normalization"
    assert document["hits"][0]["name"] == "fuse_vtiles"
    assert set(document["hits"][0]) == {"name", "score", "title", "kind", "why"}


def test_the_words_of_a_query_need_no_quotes(skel: Skel) -> None:
    quoted = skel("search", "redundant normalization", "--json").document
    assert skel("search", "redundant", "normalization", "--json").document == quoted


def test_the_limit_holds(skel: Skel) -> None:
    query = ("search", "spills registers tile kernel", "--json", "-n")
    assert len(skel(*query, "1").document["hits"]) == 1
    assert len(skel(*query, "50").document["hits"]) > 1


def test_nothing_answers_nonsense(skel: Skel) -> None:
    ended = skel("search", "qwerty zxcvb", "--json")
    assert ended.status == 0 and ended.document["hits"] == []
    assert "nothing answers" in skel("search", "qwerty zxcvb").out
    assert "nothing that passes the filters answers" in skel(
        "search", "redundant normalization in every tile", "--kind", "host").out


@pytest.mark.parametrize("query", ["", "   "])
def test_an_empty_query_is_wrong_use(skel: Skel, query: str) -> None:
    assert skel("search", query).status == 2


def test_search_tells_people_where_to_go_on(skel: Skel) -> None:
    out = skel("search", "redundant normalization").out
    assert out.splitlines()[0].split()[1] == "fuse_vtiles"
    assert "skel show fuse_vtiles" in out


def test_list_has_every_skeleton(skel: Skel) -> None:
    entries = skel("list", "--json").document["skeletons"]
    assert [entry["name"] for entry in entries] == NAMES
    by_name = {entry["name"]: entry for entry in entries}
    assert by_name["fuse_vtiles"]["advice"] is False
    out = skel("list").out
    assert all(name in out for name in NAMES)


def test_show_gives_the_whole_record(skel: Skel) -> None:
    document = skel("show", "fuse_vtiles", "--json").document
    assert document.pop("mined") == {"occurrences": [], "claims": []}
    assert document.pop("ablation")["rows"]
    record = Skeleton.model_validate(document)
    assert record in load_all()


@pytest.mark.parametrize("name", NAMES)
def test_show_prints_every_record_for_people(skel: Skel, name: str) -> None:
    ended = skel("show", name)
    assert ended.status == 0
    assert ended.out.startswith(name)
    assert ("skel apply" in ended.out) is (not next(s for s in load_all() if s.name == name).is_advice)


def test_show_of_an_unknown_name_suggests(skel: Skel) -> None:
    ended = skel("show", "fuse_vtile")
    assert ended.status == 2
    assert "fuse_vtiles" in ended.err and ended.out == ""


def test_schema_is_that_of_the_record(skel: Skel, tmp_path) -> None:
    assert skel("schema").document == Skeleton.model_json_schema()
    ended = skel("schema", "-o", str(tmp_path / "schema.json"), "--json")
    assert ended.status == 0 and ended.document == {"out": str(tmp_path / "schema.json")}
    assert json.loads((tmp_path / "schema.json").read_text()) == Skeleton.model_json_schema()


def test_show_prints_what_taking_a_technique_out_cost(skel: Skel) -> None:
    out = skel("show", "exp_to_exp2").out
    assert "Measured by taking it out of" in out and "chunk_gla_fwd_A_kernel_intra_sub_intra" in out
    assert out.index("Measured by taking it out") > out.index("Evidence")
    assert "Measured by taking it out" not in skel("show", "release_gil").out
    assert skel("show", "release_gil", "--json").document["ablation"] == {}
