"""What was timed is what was checked, by binary: findings, and verdicts on samples made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skel.validation.timing.held import with_binaries_held
from skel.validation.timing.state import State
from skel.validation.timing.summary import summarise

from .made import add_finals, plan_of, screened

KERNEL: dict[str, Any] = {"kernel": "kernel", "key": "k", "source": "s", "target": "cuda:90", "options": {}}


def made_as(binary: str, **changes: Any) -> list[dict[str, Any]]:
    return [KERNEL | {"binary_sha256": binary * 64, "specialisation": "p"} | changes]


def summary(folder: Path, **figures: list[dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """A candidate `x`, twice as fast, whose check had binary `a`; the baseline had `o`; the finals had `figures`."""
    plan = plan_of("x")
    state = screened(folder, plan, {"x": {"w": 2.0}})
    baseline = state.last("baseline", workload="w") or {}
    again = {key: value for key, value in baseline.items() if key not in ("kind", "launches")}
    launch = {"grid": [4], "constants": {}, "dtypes": {}}
    state.add("baseline", **again, launches=[one | launch for one in made_as("o")])
    state.add("verified", workload="w", candidate="x", facts=[], figures=made_as("a"), untimed={})
    final = {"workload": "w", "figures": figures, "facts": {}}
    add_finals(state, "w", {"x": 2.0}, figures=figures, facts=with_binaries_held(state, final))
    made = summarise(plan, State(folder, plan.id))
    return made, [one["code"] for one in made["workloads"][0]["facts"]]


def test_what_was_checked_is_timed(tmp_path: Path) -> None:
    made, codes = summary(tmp_path, original=made_as("o"), control=made_as("o"), x=made_as("a"), own=made_as("q"))
    assert made["verdict"] == "faster" and not codes
    assert made["workloads"][0]["candidates"]["x"]["built"] == [
        {"kernel": "kernel", "key": "k", "binary_sha256": "a" * 64}
    ]


def test_another_binary_of_the_candidate_fails_it(tmp_path: Path) -> None:
    made, codes = summary(tmp_path, original=made_as("o"), control=made_as("o"), x=made_as("b"))
    assert made["verdict"] == "failed" and set(codes) == {"other_binary_ran"}


def test_another_source_of_the_candidate_fails_it(tmp_path: Path) -> None:
    changed = made_as("b", key="l", source="t")
    made, codes = summary(tmp_path, original=made_as("o"), control=made_as("o"), x=changed)
    assert made["verdict"] == "failed" and set(codes) == {"wrong_code_ran"}


def test_another_specialisation_is_told_and_judged_by_what_it_computes(tmp_path: Path) -> None:
    special = made_as("b", key="l", specialisation="q")
    made, codes = summary(tmp_path, original=made_as("o"), control=made_as("o"), x=special)
    assert made["verdict"] == "faster" and set(codes) == {"unchecked_binary"}


@pytest.mark.parametrize("name", ["original", "control"])
def test_another_binary_of_the_original_decides_nothing(tmp_path: Path, name: str) -> None:
    figures = {"original": made_as("o"), "control": made_as("o"), "x": made_as("a")} | {name: made_as("p")}
    made, codes = summary(tmp_path, **figures)
    assert made["verdict"] == "inconclusive" and "other_binary_ran" in codes
