"""What the committed table says. `python -m tests.gauntlet table` writes it."""

from __future__ import annotations

import json

from skel.store.schema.codes import CODES

from .applying import skeletons
from .table import LOOKED_AT, RESULTS, page

TABLE = json.loads((RESULTS / "table.json").read_text(encoding="utf-8"))


def test_no_internal_error_and_every_file_comes_back() -> None:
    assert set(TABLE["files"]) == {"fla_core-0.5.2", "fla_core-0.6.0", "sglang-0.5.23"}
    for row in TABLE["files"].values():
        assert row["faults"] == 0
        assert row["read"] == row["round_trip"] == row["files"] > 0
    assert sum(row["files"] for row in TABLE["files"].values()) == 741
    assert sum(row["kernels"] for row in TABLE["files"].values()) > 1300


def test_nothing_that_ran_or_compiled_is_wrong() -> None:
    """Nor `broken`, a fault of ours while running. What was `slow`, or has no original to judge by, says nothing."""
    for run in TABLE["runs"].values():
        assert run["wrong"] == []
    ran, compiled = (TABLE["runs"][how]["variants"] for how in ("interpret", "compile"))
    assert set(ran) <= {"equal", "close", "unjudged", "slow", "absent"}
    assert set(compiled) <= {"compiled", "unjudged", "slow", "absent"}
    assert ran["equal"] + ran.get("close", 0) > 200 and compiled["compiled"] >= 100


def test_enough_different_kernels_ran() -> None:
    assert TABLE["runs"]["interpret"]["names"] >= 120


def test_every_kernel_was_tried_with_every_skeleton() -> None:
    kernels = sum(row["kernels"] for row in TABLE["files"].values())
    assert {r.name for r in skeletons()} == set(TABLE["skeletons"])
    for row in TABLE["skeletons"].values():
        assert row["applied"] + row["refused"] == kernels
        assert sum(row["codes"].values()) == row["refused"]
        assert set(row["codes"]) <= set(CODES)


def test_every_frequent_refusal_was_looked_at() -> None:
    notes = json.loads((RESULTS / "refusals.json").read_text(encoding="utf-8"))
    for name, row in TABLE["skeletons"].items():
        for code, hits in row["codes"].items():
            if hits > LOOKED_AT:
                assert len(notes[name][code]["samples"]) == 10 and notes[name][code]["note"], (name, code)


def test_the_page_is_of_the_table() -> None:
    assert (RESULTS / "README.md").read_text(encoding="utf-8") == page(TABLE)
