"""Filters on hits."""

from collections.abc import Callable

import pytest

from skel.store.database import Database, open_database
from skel.store.evidence import add_evidence
from skel.store.filters import Filters
from skel.store.schema.evidence import Evidence
from skel.store.schema.words import Verdict
from skel.store.search import answer

QUERY = "redundant normalization overflow eviction split reduction"


@pytest.fixture
def mixed(write: Callable[..., object], tmp_path: object) -> Database:
    write("share_norm", kind="structural", numerics={"result": "reassociated", "why": "x"},
          limits=[{"architecture": "sm_90"}])
    write("wide_index", kind="local", limits=[{"architecture": "any", "registers_per_thread": 9}],
          sources=[{"repository": "Some/Project", "revision": "1", "path": "a.py", "licence": "MIT"}])
    write("cache_policy", kind="host", numerics={"result": "approximate", "why": "x"})
    write("split_sum", kind="local", limits=[{"architecture": "gfx942"}])
    return open_database(f"{tmp_path}/skel.db", tmp_path / "records")  # type: ignore[operator]


def names(database: Database, filters: Filters) -> set[str]:
    return {hit.name for hit in answer(database, QUERY, 10, filters).hits}


@pytest.mark.parametrize(("filters", "expected"), [
    (Filters(), {"share_norm", "wide_index", "cache_policy", "split_sum"}),
    (Filters(kind="local"), {"wide_index", "split_sum"}),
    (Filters(kind="template"), set()),
    (Filters(architecture="sm_90"), {"share_norm", "wide_index", "cache_policy"}),
    (Filters(architecture="gfx942"), {"split_sum", "wide_index", "cache_policy"}),
    (Filters(numerics="bitwise"), {"wide_index", "split_sum"}),
    (Filters(numerics="contracted"), {"wide_index", "split_sum", "share_norm"}),
    (Filters(source="project"), {"wide_index"}),
    (Filters(source="other"), set()),
    (Filters(proven=True), set()),
    (Filters(proven=False), {"share_norm", "wide_index", "cache_policy", "split_sum"}),
    (Filters(kind="local", architecture="sm_90"), {"wide_index"}),
])
def test_filters(mixed: Database, filters: Filters, expected: set[str]) -> None:
    assert names(mixed, filters) == expected


def test_proven_is_a_measured_gain(mixed: Database, measured: Callable[..., Evidence]) -> None:
    add_evidence(mixed, measured(skeleton="share_norm", level="timing", verdict=Verdict.SLOWER))
    assert names(mixed, Filters(proven=True)) == set()
    add_evidence(mixed, measured(skeleton="share_norm", level="timing", verdict=Verdict.FASTER))
    assert names(mixed, Filters(proven=True)) == {"share_norm"}
    assert "share_norm" not in names(mixed, Filters(proven=False))


def test_a_filter_does_not_make_an_answer(mixed: Database) -> None:
    assert answer(mixed, "best pizza in berlin", 5, Filters(kind="host")).hits == ()


def test_what_a_scan_saw_is_a_hit(mixed: Database) -> None:
    hits = answer(mixed, "x = tl.load(p)", 5, None, signals={"split_sum": "the scan says so"}).hits
    (hit,) = [hit for hit in hits if hit.name == "split_sum"]
    assert hit.score >= 0.6 and hit.why.startswith("the scan says so")
