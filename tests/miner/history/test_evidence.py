"""The evidence that is known of three histories: what the miner found, and, where the histories are here, that it does.

`SKEL_HISTORIES` says where they are: `fla-org/flash-linear-attention=PATH:sgl-project/sglang=PATH:...`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skel.miner.claims import Claim, Quantity
from skel.miner.history import mine_commits
from skel.miner.history.evaluation import Evaluation, Expectation, Number, evaluate, read_expectations

DATA = Path(__file__).resolve().parents[1] / "data"
EXPECTED = read_expectations(DATA / "history_evidence.jsonl")
MEASURED = Evaluation.model_validate_json((DATA / "history_measured.json").read_text(encoding="utf-8"))
WHOLE = Evaluation.model_validate_json((DATA / "history_measured_full.json").read_text(encoding="utf-8"))
"""What came of reading the whole histories of three repositories, every commit on every ref."""
REPOSITORIES = sorted({e.repository for e in EXPECTED})


def test_every_expectation_was_measured() -> None:
    assert [(r.repository, r.commit) for r in MEASURED.rows] == [(e.repository, e.commit) for e in EXPECTED]


@pytest.mark.parametrize("field", ["mined", "numbers", "technique"])
@pytest.mark.parametrize("measured", [MEASURED, WHOLE], ids=["by name", "by itself"])
def test_at_least_four_of_five_were_found(measured: Evaluation, field: str) -> None:
    hit, total = measured.share(field)
    assert total >= 14 and hit >= 0.8 * total


@pytest.mark.parametrize("repository", REPOSITORIES)
def test_the_histories_still_give_what_was_measured(repository: str) -> None:
    known = dict(pair.split("=", 1) for pair in os.environ.get("SKEL_HISTORIES", "").split(":") if "=" in pair)
    if repository not in known:
        pytest.skip(f"needs the history of {repository}: name its folder in SKEL_HISTORIES")
    own = [e for e in EXPECTED if e.repository == repository]
    found = evaluate(mine_commits(known[repository], [e.commit for e in own], repository=repository), own)
    assert found.rows == tuple(r for r in MEASURED.rows if r.repository == repository)


def test_a_number_must_be_there_whole() -> None:
    claim = Claim(text="", before=Quantity(value=31, unit="us"), after=Quantity(value=8.5, unit="us"), ratio=3.6)
    assert Number(ratio=3.6).stands_in(claim) and Number(before=Quantity(value=31, unit="us")).stands_in(claim)
    assert not Number(before=Quantity(value=31, unit="ms")).stands_in(claim)
    assert not Number(ratio=3.6, percent=5).stands_in(claim)


def test_what_was_not_mined_counts_as_not_found() -> None:
    known = Expectation(repository="r", commit="abc", techniques=("split_k",), numbers=(Number(ratio=2),))
    result = evaluate([], [known])
    assert [result.share(f) for f in ("mined", "numbers", "technique", "first")] == [(0, 1)] * 4
