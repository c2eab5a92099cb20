"""Queries that were written before the records were read: what search makes of them, as the command line asks it."""

import json
from pathlib import Path
from typing import Any

import pytest

from skel.code_query import signals_in
from skel.store.database import Database, open_database
from skel.store.search import answer
from tests.store.judged import ndcg

QUERIES = [json.loads(line) for line in
           Path(__file__).with_name("queries_heldout.jsonl").read_text(encoding="utf-8").splitlines()]  # fmt: skip
FIRST = [one for one in QUERIES if one["id"] <= 64]
SECOND = [one for one in QUERIES if 64 < one["id"] <= 200]
THIRD = [one for one in QUERIES if 200 < one["id"] <= 300]
FOURTH = [one for one in QUERIES if one["id"] > 300]


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return open_database(str(tmp_path_factory.mktemp("heldout") / "skel.db"))


def names(database: Database, query: str) -> list[str]:
    """The hits of a query; a kernel in it is scanned, as `skel search` does."""
    signals = signals_in(query) if "tl." in query and "def " in query else None
    return [hit.name for hit in answer(database, query, 5, signals=signals).hits]


@pytest.mark.parametrize(("queries", "least", "most_answered"), [
    (FIRST, 0.87, 2), (SECOND, 0.92, 1), (THIRD, 0.93, 1), (FOURTH, 0.92, 2)])
def test_queries_written_before_the_records_were_read(
    packaged: Database, queries: list[dict[str, Any]], least: float, most_answered: int
) -> None:
    found = {one["query"]: names(packaged, one["query"]) for one in queries}
    values = [ndcg(found[one["query"]], one["relevant"]) for one in queries if one["relevant"]]
    silent = [one["query"] for one in queries if not one["relevant"]]
    answered = [query for query in silent if found[query]]
    mean = sum(values) / len(values)
    print(f"nDCG@5 {mean:.3f} over {len(values)}; answered {len(answered)} of {len(silent)} without an answer")
    assert mean >= least
    assert len(answered) <= most_answered, answered


def test_there_are_enough_of_every_kind() -> None:
    kinds = {kind: sum(one["kind"] == kind for one in QUERIES) for kind in {one["kind"] for one in QUERIES}}
    assert min(kinds.values()) >= 8 and len(QUERIES) >= 250, kinds
    assert len({one["query"] for one in QUERIES}) == len(QUERIES)
