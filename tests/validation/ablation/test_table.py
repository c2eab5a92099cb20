"""The table: only what was equivalent has a row, and each verdict is of the technique."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skel.validation.ablation.lines import Lines
from skel.validation.ablation.table import TILE, summary, table, text

FILE = "fla/modules/norm/l2norm.py"
ABOUT = {"case": "fla_l2norm", "kernel": "k", "file": FILE, "configuration": None, "deterministic": True}
LIKE = {"registers": 32, "spill_bytes": 0, "shared_memory_bytes": 64}
OTHER = {**LIKE, "registers": 40}
STEADY = (1.0, 0.99, 1.01)


def interval(median: float, low: float, high: float) -> dict[str, float]:
    return {"median": median, "low": low, "high": high}


def measured(folder: Path, checks: list[dict[str, Any]], control: tuple[float, float, float] = STEADY) -> Any:
    """The table of a state in which each check that holds a `ratio` was timed."""
    state = Lines(folder)
    for check in checks:
        fields = {k: v for k, v in check.items() if k != "ratio"}
        state.add("check", **{**ABOUT, "figures": {"expert": LIKE, "without": OTHER}, **fields})
    ratios = {check["version"]: interval(*check["ratio"]) for check in checks if "ratio" in check}
    times = dict.fromkeys(("original", "control", *ratios), 10.0)
    common = {key: ABOUT[key] for key in ("case", "kernel", "file")}
    state.add("time", **common, begin=True)
    state.add("time", **common, microseconds=times, ratio=ratios, control=interval(*control), samples=32)
    state.add("session", environment={"device": "A GPU", "power_watts": 80.0}, timer="cuda graph", at=86400.0)
    plan = {
        "sources": [{"name": "fla-core", "version": "1.0", "licence": "MIT", "folders": ["fla"]}],
        "files": {FILE: {"kernels": {"k": {"line": 7, "inverses": {"dots_in_ieee": {}, "dots_in_tf32": {}}}}}},
    }
    return table(plan, Lines(folder))


def check(version: str, ratio: tuple[float, float, float] | None = None, **fields: Any) -> dict[str, Any]:
    said = {"version": version, "technique": "t", "change": "1 edit", "numerics": "bitwise", "equal": "bitwise"}
    return {**said, **({"ratio": ratio} if ratio else {}), **fields}


@pytest.mark.parametrize(
    ("version", "ratio", "verdict"),
    [
        ("a", (1.2, 1.1, 1.3), "pays"),
        ("a", (0.9, 0.85, 0.95), "costs"),
        ("a", (1.05, 1.01, 1.1), "neutral"),
        ("a", (0.97, 0.95, 0.99), "neutral"),
        ("pointers_and_masks", (1.2, 1.1, 1.3), "costs"),
        ("pointers_and_masks", (0.9, 0.85, 0.95), "pays"),
    ],
)
def test_verdicts(tmp_path: Path, version: str, ratio: tuple[float, float, float], verdict: str) -> None:
    (row,) = measured(tmp_path, [check(version, ratio)])["rows"]
    assert (row["verdict"], row["ratio"], row["line"]) == (verdict, list(ratio), 7)


@pytest.mark.parametrize("control", [(1.0, 0.979, 1.01), (1.0, 0.99, 1.021)])
def test_a_control_outside_its_bounds_decides_nothing(tmp_path: Path, control: tuple[float, float, float]) -> None:
    found = measured(tmp_path, [check("a", (2.0, 1.9, 2.1))], control)
    assert [row["verdict"] for row in found["rows"]] == ["inconclusive"]
    assert found["summary"]["conclusive_rows"] == 0 and found["summary"]["techniques"]["t"]["ratio"] is None


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({}, "no trace"),
        ({"equal": "close"}, "neutral"),
        ({"numerics": "bitwise"}, "neutral"),
        ({"figures": {"expert": LIKE, "without": OTHER}}, "neutral"),
        ({"figures": {"expert": {}, "without": {}}}, "neutral"),
        ({"ratio": (1.2, 1.1, 1.3)}, "pays"),
    ],
)
def test_a_change_that_left_no_trace(tmp_path: Path, fields: dict[str, Any], verdict: str) -> None:
    base = {"figures": {"expert": LIKE, "without": LIKE}, "numerics": "approximate"}
    (row,) = measured(tmp_path, [check("exp2_to_exp", **{"ratio": STEADY, **base, **fields})])["rows"]
    assert row["verdict"] == verdict


def test_only_what_is_equivalent_has_a_row(tmp_path: Path) -> None:
    untimed = [check("differs", equal="differs"), check("same", equal="same code"), check("failed", equal="failed")]
    untimed += [check("nothing", equal="nothing written"), check("later")]
    found = measured(tmp_path, [check("a", (1.2, 1.1, 1.3), equal="close"), *untimed])
    assert [row["version"] for row in found["rows"]] == ["a"]
    wanted = {"rows": 1, "kernels": 1, "checked": 6, "not_equivalent": 1, "same_code": 1, "failed": 1}
    assert wanted.items() <= found["summary"].items() and found["summary"]["nothing_written"] == 1


def test_one_that_differs_has_no_row_even_where_it_was_timed(tmp_path: Path) -> None:
    assert measured(tmp_path, [check("a", (1.2, 1.1, 1.3), equal="differs")])["rows"] == []


def test_tiles_of_anything_but_values_are_no_skeletons(tmp_path: Path) -> None:
    for change, technique in (("BV 64 to 32", "fuse_vtiles"), ("BK 64 to 32", TILE), ("BK 4 to 2, BV 4 to 2", TILE)):
        one = check("smaller_tile", STEADY, technique="fuse_vtiles", change=change)
        assert [row["technique"] for row in measured(tmp_path / change, [one])["rows"]] == [technique]


@pytest.mark.parametrize(
    ("ieee", "change"), [("bitwise", "ieee to tf32"), ("close", "tf32x3 to tf32"), ("differs", "tf32x3 to tf32")]
)
def test_the_precision_that_the_expert_had(tmp_path: Path, ieee: str, change: str) -> None:
    checks = [check("dots_in_tf32", STEADY, equal="close"), check("dots_in_ieee", equal=ieee)]
    assert [row["change"] for row in measured(tmp_path, checks)["rows"]] == [change]


def test_what_the_table_says_of_where_it_was_measured(tmp_path: Path) -> None:
    found = measured(tmp_path, [check("a", (1.2, 1.1, 1.3)), check("b", (0.9, 0.85, 0.95))])
    assert found["environment"] == {"device": "A GPU"} and found["measured_at"].startswith("1970-01-02")
    assert found["sources"] == [{"name": "fla-core", "version": "1.0", "licence": "MIT"}]
    assert found["cases"]["fla_l2norm"]["source"] == "fla-core"
    assert found["protocol"]["timing.control_interval"] == [0.98, 1.02]
    assert json.loads(text(found)) == found
    assert len(text(found).splitlines()) == len(found) + len(found["rows"]) + 1
    one = summary(found["rows"])["t"]
    assert (one["rows"], one["kernels"], one["pays"], one["costs"]) == (2, 1, 1, 1)
    assert one["ratio"] == [1.05, 0.9, 1.2]


def test_a_line_that_was_cut_off_is_passed_over(tmp_path: Path) -> None:
    state = Lines(tmp_path)
    state.add("check", case="a")
    with open(tmp_path / "check.jsonl", "a") as file:
        file.write('{"case": "b')
    assert state.all("check") == [{"case": "a"}] and state.all("time") == []
