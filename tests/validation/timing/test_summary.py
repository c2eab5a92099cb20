"""Verdicts of workloads and files, on samples made by hand; evidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skel.store.canonical import sha256
from skel.store.evidence import evidence_id, load_evidence
from skel.validation.bench import evidence_of, read_bench, write_evidence
from skel.validation.subject import Sidecar
from skel.validation.timing.plan import Plan
from skel.validation.timing.state import State
from skel.validation.timing.summary import summarise

from .made import add_finals, plan_of, screened


def summary(plan: Plan, state: State) -> tuple[dict[str, Any], list[str]]:
    """The summary, and the codes of all facts."""
    made = summarise(plan, state)
    return made, [one["code"] for row in made["workloads"] for one in row["facts"]] + [f["code"] for f in made["facts"]]


def timed(
    folder: Path, ratios: dict[str, float], finals: dict[str, float] | None = None, **fields: Any
) -> tuple[Plan, State]:
    """One candidate `x` on workloads with those screening ratios; the finals give the same unless told otherwise."""
    plan = plan_of("x")
    state = screened(folder, plan, {"x": ratios})
    for label, ratio in (finals or ratios).items():
        add_finals(state, label, {"x": ratio}, **fields)
    return plan, state


def test_faster_with_the_guard_where_it_loses(tmp_path: Path) -> None:
    made, codes = summary(*timed(tmp_path, {"a": 2.0, "b": 1.5, "c": 0.8}))
    assert made["verdict"] == "faster" and made["guarded"]
    assert [row["verdict"] for row in made["workloads"]] == ["faster", "faster", "neutral"]
    assert made["workloads"][2]["chosen"] is None and "slower_here" in codes, "the loser is told of"
    assert made["geometric_mean"]["cold"]["median"] == pytest.approx(3 ** (1 / 3), rel=0.01)
    assert made["geometric_mean"]["cold_minimum"] == 1.0


@pytest.mark.parametrize(
    ("ratios", "verdict"), [({"a": 0.8, "b": 0.9}, "slower"), ({"a": 1.005, "b": 1.004}, "neutral")]
)
def test_slower_and_neutral(tmp_path: Path, ratios: dict[str, float], verdict: str) -> None:
    made, _ = summary(*timed(tmp_path, ratios))
    assert made["verdict"] == verdict


def test_luck_in_the_screening_is_found_out_in_the_finals(tmp_path: Path) -> None:
    made, _ = summary(*timed(tmp_path, {"a": 1.5, "b": 1.5}, {"a": 1.5, "b": 0.9}))
    assert made["workloads"][1]["verdict"] == "slower"
    assert made["verdict"] == "inconclusive", "a workload's lower end is under 0.98"


def test_a_control_outside_its_bounds_decides_nothing(tmp_path: Path) -> None:
    plan = plan_of("x")
    state = screened(tmp_path, plan, {"x": {"a": 2.0}})
    add_finals(state, "a", {"x": 2.0, "control": 1.04})
    made, codes = summary(plan, state)
    assert made["workloads"][0]["verdict"] == made["verdict"] == "inconclusive" and "control_failed" in codes


@pytest.mark.parametrize(
    ("fields", "code"), [({"exhausted": True}, "clock_low"), ({"processes": 1}, "timing_unfinished")]
)
def test_what_was_not_measured_well_decides_nothing(tmp_path: Path, fields: dict[str, Any], code: str) -> None:
    made, codes = summary(*timed(tmp_path, {"a": 2.0}, **fields))
    assert made["verdict"] == "inconclusive" and code in codes


def test_faster_than_the_memory_allows_is_impossible(tmp_path: Path) -> None:
    plan = plan_of("x")
    state = screened(tmp_path, plan, {"x": {"a": 2.0}}, moved=90_000_000)  # 90 us at 1 TB/s; the original takes 100
    add_finals(state, "a", {"x": 2.0})
    made, codes = summary(plan, state)
    assert made["verdict"] == "failed" and "below_floor" in codes
    assert "memory_bound" in codes, "the original runs at 90 % of its floor"


def test_ten_times_is_flagged(tmp_path: Path) -> None:
    made, codes = summary(*timed(tmp_path, {"a": 12.0}))
    assert made["verdict"] == "faster" and "suspiciously_fast" in codes


def test_wrong_values_after_timing_are_wrong(tmp_path: Path) -> None:
    fields = {"output": "y", "count": 1, "total": 2, "index": "[0]", "candidate": 1, "reference": 2}
    bad = {"code": "values_differ", "fields": fields, "data": {}, "severity": "error"}
    made, codes = summary(*timed(tmp_path, {"a": 2.0}, facts={"x": [bad]}))
    assert made["verdict"] == "wrong" and "values_differ" in codes


def test_another_timer_gives_no_verdict(tmp_path: Path) -> None:
    plan = plan_of("x")
    state = screened(tmp_path, plan, {"x": {"a": 2.0}}, timer="host clock")
    add_finals(state, "a", {"x": 2.0})
    assert summarise(plan, state)["verdict"] == "inconclusive"


def test_all_over_the_limits(tmp_path: Path) -> None:
    plan = plan_of("x", "y")
    state = screened(tmp_path, plan, {"x": {}, "y": {}, "z": {"a": 1.0}})
    assert summarise(plan, state)["verdict"] == "over_limits"


def test_both_baselines_and_the_widened_tile_are_printed(tmp_path: Path) -> None:
    plan = plan_of("x", "widen")
    state = screened(tmp_path, plan, {"x": {"a": 2.0}, "widen": {"a": 1.25}})
    own = {"original": [100.0] * 20, "original 4w 3s": [80.0] * 20}
    state.add(
        "own",
        workload="a",
        options={"original 4w 3s": {"num_warps": 4, "num_stages": 3}},
        left_out={},
        cold=own,
        warm=own,
    )
    add_finals(state, "a", {"x": 2.0, "widen": 1.25, "own": 1.25})
    means = summarise(plan, state)["geometric_mean"]
    assert means["cold"]["median"] == pytest.approx(2.0, rel=0.01)
    assert means["cold_over_own"]["median"] == pytest.approx(1.6, rel=0.02)
    assert means["warm_over_widened"]["median"] == pytest.approx(1.6, rel=0.02)


def test_without_other_configurations_there_is_no_ratio_to_the_best_of_them(tmp_path: Path) -> None:
    plan = plan_of("x")
    state = screened(tmp_path, plan, {"x": {"a": 2.0}})
    add_finals(state, "a", {"x": 2.0})
    means = summarise(plan, state)["geometric_mean"]
    assert "cold" in means and not [key for key in means if key.endswith("_over_own")]


def test_the_same_state_gives_the_same_evidence_and_it_can_be_loaded(tmp_path: Path) -> None:
    plan, _ = timed(tmp_path, {"a": 2.0, "b": 0.8})
    first, second = (evidence_of(read_bench(plan, tmp_path)) for _ in range(2))
    assert first is not None and first == second
    assert first.verdict == "faster" and first.level == "timing" and first.settings == {"form": "loop"}
    assert [row["chosen"] for row in first.workloads] == ["x", "original"]
    path = write_evidence(first, tmp_path / "fuse_vtiles" / "evidence")
    (loaded,) = load_evidence(path)
    assert evidence_id(loaded) == evidence_id(first) and path.stem == evidence_id(first)[:16]
    assert write_evidence(first, path.parent) == path


def test_evidence_names_a_packages_file_as_the_package_does(tmp_path: Path) -> None:
    plan = plan_of("x")
    path = str(tmp_path / "lib-1.0-py3-none-any.whl/lib/norm.py")
    subject = replace(plan.subject, path=path, sidecar=Sidecar(str(tmp_path / "hooks.py"), "# hooks\n"))
    plan = replace(plan, subject=subject)
    assert replace(plan, pinned={"nk": 1}).id == plan.id, "what is timed are the candidates, however they were made"
    plan = Plan.from_json(replace(plan, pinned={"nk": 1}).to_json())
    add_finals(screened(tmp_path, plan, {"x": {"a": 0.8}}), "a", {"x": 0.8})
    made = evidence_of(read_bench(plan, tmp_path))
    assert made is not None and made.file == "lib==1.0:lib/norm.py" and made.rerun is not None
    assert made.rerun.model_dump() == {
        "package": "lib==1.0",
        "path": "lib/norm.py",
        "sidecar": "hooks.py",
        "sidecar_sha256": sha256("# hooks\n"),
        "settings": {"nk": 1},
    }
    assert made.findings and str(tmp_path) not in made.model_dump_json()


def test_an_unfinished_measurement_is_no_evidence(tmp_path: Path) -> None:
    plan = plan_of("x")
    screened(tmp_path, plan, {"x": {"a": 2.0}})
    result = read_bench(plan, tmp_path)
    assert evidence_of(result) is None and not result.finished
    assert "timing_unfinished" in [finding.code for finding in result.findings]


@pytest.mark.parametrize(("own_ratio", "told"), [(2.5, True), (1.9, False)])
def test_a_launch_of_the_original_that_gains_more_is_told(tmp_path: Path, own_ratio: float, told: bool) -> None:
    plan = plan_of("x")
    state = screened(tmp_path, plan, {"x": {"a": 2.0}})
    own = {"original": [100.0] * 20, "original 4w 3s": [100.0 / own_ratio] * 20}
    state.add(
        "own",
        workload="a",
        options={"original 4w 3s": {"num_warps": 4, "num_stages": 3}},
        left_out={},
        cold=own,
        warm=own,
    )
    add_finals(state, "a", {"x": 2.0, "own": own_ratio})
    made = summarise(plan, state)
    assert made["verdict"] == "faster"
    said = [f for f in made["workloads"][0]["facts"] if f["code"] == "own_configuration_better"]
    assert bool(said) is told
    if told:
        assert said[0]["fields"]["own"] == "original 4w 3s"
        assert said[0]["fields"]["ratio"] == pytest.approx(0.8, abs=0.02)
