"""The state file: nothing is lost, nothing of another plan or machine is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from skel.validation.timing.plan import Plan, PlanError
from skel.validation.timing.state import State, StateError

from .made import plan_of


def test_lines_are_there_again_and_the_last_one_counts(tmp_path: Path) -> None:
    state = State(tmp_path, "p")
    state.add("verified", workload="a", process=0, value=1)
    state.add("verified", workload="a", process=0, value=2)
    again = State(tmp_path, "p")
    assert again.last("verified", workload="a", process=0)["value"] == 2
    assert again.last("verified", workload="b") is None


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_was_cut_off_is_left_out_and_damages_no_other(tmp_path: Path, cut: int) -> None:
    state = State(tmp_path, "p")
    state.add("verified", candidate="x", workload="a")
    state.add("verified", candidate="y", workload="a")
    state.path.write_bytes(state.path.read_bytes()[: -1 - cut])
    again = State(tmp_path, "p")
    assert again.last("verified", candidate="x") and not again.last("verified", candidate="y")
    again.add("verified", candidate="z", workload="a")
    assert State(tmp_path, "p").last("verified", candidate="z")


def test_another_plan_or_machine_is_refused(tmp_path: Path) -> None:
    state = State(tmp_path, "p")
    with pytest.raises(StateError, match="another plan"):
        State(tmp_path, "q")
    here = {"environment": {"device": "H200", "torch": "2.11", "triton": "3.6"}, "timer": "cuda graph"}
    state.add("session", **here)
    state.require_same_machine(here)
    for other in (
        {**here, "timer": "host clock"},
        {**here, "environment": {**here["environment"], "triton": "3.7"}},
        {**here, "environment": {**here["environment"], "device": "A100"}},
    ):
        with pytest.raises(StateError):
            state.require_same_machine(other)


def test_a_plan_survives_its_file_and_its_hash_follows_what_is_timed() -> None:
    plan = plan_of("loop", "widen")
    assert Plan.from_json(plan.to_json()) == plan
    assert plan_of("loop", "widen", final_samples=7).id == plan.id
    assert plan_of("loop").id != plan.id
    with pytest.raises(PlanError):
        Plan.from_json('{"candidates": 3}')
