"""States that were damaged, mixed or edited: nothing is said from them, and nobody is called faster by luck."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skel.validation.bench import BenchResult, read_bench
from skel.validation.timing.plan import Plan, PlanError
from skel.validation.timing.state import State, StateError

from .made import add_finals, plan_of, screened

Line = dict[str, Any]
WRONG = {
    "code": "values_differ",
    "fields": {"output": "y", "count": 1, "total": 2, "index": "[0]", "candidate": 1, "reference": 2},
    "data": {},
    "severity": "error",
}


def read(folder: Path, change: Callable[[list[Line]], object], **numbers: Any) -> BenchResult:
    """What is said of a candidate `x`, twice as fast on `a` and `b`, once the state's lines were changed."""
    plan = plan_of("x", **numbers)
    state = screened(folder, plan, {"x": {"a": 2.0, "b": 2.0}})
    for label in ("a", "b"):
        add_finals(state, label, {"x": 2.0})
    lines = [json.loads(text) for text in state.path.read_text().splitlines()]
    change(lines)
    state.path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_bench(plan, folder)


def each(kind: str, change: Callable[[Line], object]) -> Callable[[list[Line]], object]:
    return lambda lines: [change(line) for line in lines if line["kind"] == kind]


def samples(value: Any, name: str = "x", mode: str = "cold") -> Callable[[Line], object]:
    return lambda line: [trial.update({name: [value, *trial[name][1:]]}) for trial in line[mode]]


def without(name: str) -> Callable[[Line], object]:
    return lambda line: [trial.pop(name) for mode in ("cold", "warm") for trial in line[mode]]


def shortened(line: Line) -> None:
    for mode in ("cold", "warm"):
        line[mode] = [{name: taken[:1] for name, taken in line[mode][0].items()}]


def test_the_same_state_unchanged_is_faster(tmp_path: Path) -> None:
    assert read(tmp_path, len).verdict == "faster"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (each("final", samples(0.0)), "no positive number"),
        (each("final", samples(float("nan"))), "no positive number"),
        (each("final", samples(float("inf"), "original")), "no positive number"),
        (each("final", samples(-1.0, mode="warm")), "no positive number"),
        (each("final", samples("1")), "no positive number"),
        (each("final", lambda line: line["cold"][0]["x"].pop()), "as many samples"),
        (each("final", lambda line: line.pop("warm")), "no warm samples"),
        (each("final", without("original")), "original was not timed"),
        (each("final", lambda line: line.update(timer="host clock")), "host clock"),
        (each("screened", lambda line: line.update(cold={})), "original was not timed"),
        (each("screened", lambda line: line["cold"].update(x=[0.0] * 20)), "no positive number"),
        (each("session", lambda line: line["ceilings"].update(l2_bytes_per_second=float("nan"))), "bandwidth"),
        (each("workloads", lambda line: line.update(labels=["a"])), "b is none of its workloads"),
        (each("workloads", lambda line: line.update(labels=["a", "a", "b"])), "workloads"),
        (lambda lines: lines.append({"kind": "plan", "plan": "another"}), "another plan"),
        (lambda lines: lines.append(lines[1] | {"environment": {"device": "B200"}}), "several measurements"),
        (lambda lines: lines.pop(1), "on what machine"),
    ],
)
def test_nothing_is_said(tmp_path: Path, change: Callable[[list[Line]], object], why: str) -> None:
    with pytest.raises(StateError, match=why):
        read(tmp_path, change)


@pytest.mark.parametrize(
    ("change", "verdict", "code"),
    [
        (each("final", shortened), "inconclusive", "timing_unfinished"),
        (each("final", without("control")), "inconclusive", "timing_unfinished"),
        (each("final", lambda line: line["facts"].update(control=[WRONG])), "inconclusive", "values_differ"),
        (each("final", lambda line: line["untimed"].update(x={"sum": 1})), "inconclusive", "untimed_work"),
        (each("final", lambda line: (without("x")(line), line["facts"].update(x=[WRONG]))), "wrong", "values_differ"),
    ],
    ids=["few samples", "no control", "the original differs from itself", "work outside", "wrong before it was timed"],
)
def test_no_verdict_that_is_not_earned(
    tmp_path: Path, change: Callable[[list[Line]], object], verdict: str, code: str
) -> None:
    result = read(tmp_path, change)
    assert result.verdict == verdict and code in [one.code for one in result.findings]


def test_a_trial_that_was_given_up_is_no_trial(tmp_path: Path) -> None:
    add = each("final", lambda line: [line[mode].append({}) for mode in ("cold", "warm")])
    assert read(tmp_path, add).verdict == "faster"


def test_changed_numbers_are_told(tmp_path: Path) -> None:
    result = read(tmp_path, len, control_interval=(0.5, 2.0))
    assert [one.data["numbers"] for one in result.findings if one.code == "own_numbers"] == [
        "timing.control_interval=(0.5, 2.0)"
    ]


def test_a_sample_that_is_no_time_is_not_kept(tmp_path: Path) -> None:
    state = State(tmp_path, "p")
    with pytest.raises(StateError, match="no positive number"):
        state.add("own", workload="a", cold={"original": [0.0]}, warm={"original": [1.0]})
    assert len(State(tmp_path, "p").lines) == 1


@pytest.mark.parametrize("names", [("original",), ("control",), ("own",), ("x", "x")])
def test_names_that_others_have(names: tuple[str, ...]) -> None:
    with pytest.raises(PlanError, match="may be called"):
        plan_of(*names)
    plan: Plan = plan_of("x")
    data = json.loads(plan.to_json()) | {"candidates": [{"name": name, "text": ""} for name in names]}
    with pytest.raises(PlanError, match="may be called"):
        Plan.from_json(json.dumps(data))
