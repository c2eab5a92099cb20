"""Decisions from screening: which variants, where the original stays, who goes to the finals."""

from __future__ import annotations

from pathlib import Path

import pytest

from skel.validation.protocol import Timing
from skel.validation.timing.copies import jitted_text, kernel_copies
from skel.validation.timing.decide import assignment, decision, finalists, pending_checks, pending_screening

from .made import plan_of, screened

LABELS = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ({"x": {"a": 2, "b": 1.5, "c": 0.8}}, ["x", "x", None]),
        ({"x": {"a": 0.9, "b": 0.8, "c": 0.99}}, [None, None, None]),
        ({"x": {"a": 2, "b": 1, "c": 0.5}, "y": {"a": 0.5, "b": 1.2, "c": 3}}, ["x", "y", "y"]),
        ({"x": {"a": 2, "b": 2.01, "c": 2}, "y": {"a": 2.01, "b": 2, "c": 2}}, ["x", "x", "x"]),
        ({"x": {"a": 2, "b": 2}, "y": {"a": 1.5, "b": 1.5, "c": 1.5}}, ["y", "y", "y"]),
    ],
    ids=["loser keeps the original", "all lose", "two variants", "a second one must pay", "incomplete is not chosen"],
)
def test_assignment(ratios: dict[str, dict[str, float]], expected: list[str | None]) -> None:
    found = assignment(ratios, LABELS, Timing())
    assert [found[label] for label in LABELS] == expected


def _each_best_in_one_place() -> dict[str, dict[str, float]]:
    best = dict(zip("xyz", LABELS, strict=True))
    return {name: {label: 2.0 if label == best[name] else 1.0 for label in LABELS} for name in best}


def test_at_most_two_copies_of_the_kernel() -> None:
    found = assignment(_each_best_in_one_place(), LABELS, Timing())
    assert len(set(found.values()) - {None}) == 2


def test_variants_that_differ_in_the_launcher_only_are_not_counted_as_copies() -> None:
    found = assignment(_each_best_in_one_place(), LABELS, Timing(), copies=dict.fromkeys("xyz"))
    assert found == {"a": "x", "b": "y", "c": "z"}
    shared = assignment(_each_best_in_one_place(), LABELS, Timing(), copies={"x": "k", "y": "k", "z": None})
    assert set(shared.values()) == {"x", "y", "z"}


def test_at_most_four_variants() -> None:
    labels = list("abcdef")
    ratios = {f"v{label}": {other: 2.0 if other == label else 1.0 for other in labels} for label in labels}
    found = assignment(ratios, labels, Timing(), copies=dict.fromkeys(ratios))
    assert len(set(found.values()) - {None}) == 4


def test_the_kernels_text_says_what_is_copied() -> None:
    assert kernel_copies(plan_of("x", "y")) == {"x": None, "y": None}
    kernel = "@triton.jit\ndef k(x):\n    pass\n\n\ndef run(x):\n    k[(1,)](x, {})\n"
    assert jitted_text(kernel.replace("{}", "num_warps=1")) == jitted_text(kernel.replace("{}", "num_warps=2"))
    assert jitted_text(kernel) != jitted_text(kernel.replace("pass", "return"))


def test_one_over_the_limits_in_some_places_may_be_chosen_in_others() -> None:
    ratios = {"x": {"a": 3.0, "b": 3.0}, "y": {"a": 1.5, "b": 1.5, "c": 1.5}}
    assert assignment(ratios, LABELS, Timing(), {"x": {"c"}}) == {"a": "x", "b": "x", "c": "y"}


def test_the_finals_hold_the_chosen_the_best_and_the_best_widened(tmp_path: Path) -> None:
    plan = plan_of("loop1", "loop2", "loop3", "widen1", "widen2")
    rates = {"loop1": 1.5, "loop2": 1.4, "loop3": 1.3, "widen1": 1.1, "widen2": 1.2}
    state = screened(tmp_path, plan, {name: {"a": rate, "b": rate} for name, rate in rates.items()})
    assert finalists(plan, state) == {"a": ["loop1", "loop2", "widen2"], "b": ["loop1", "loop2", "widen2"]}


def test_where_all_lose_the_best_is_judged_everywhere(tmp_path: Path) -> None:
    plan = plan_of("x", "y")
    state = screened(tmp_path, plan, {"x": {"a": 0.8, "b": 0.9}, "y": {"a": 0.7, "b": 0.7}})
    assert decision(plan, state) == {"a": "x", "b": "x"}


def test_a_single_file_is_judged_as_it_is(tmp_path: Path) -> None:
    plan = plan_of("x", skeleton=None)
    state = screened(tmp_path, plan, {"x": {"a": 2.0, "b": 0.5}})
    assert decision(plan, state) == {"a": "x", "b": "x"}


def test_what_is_wrong_or_works_outside_its_launches_is_never_timed(tmp_path: Path) -> None:
    plan = plan_of("x", "y")
    state = screened(tmp_path, plan, {"x": {"a": 2.0}, "y": {"a": 3.0}})
    assert not pending_screening(plan, state) and not pending_checks(state, "x")
    state.add("verified", workload="a", candidate="y", facts=[], figures=[], untimed={"sum": 1})
    assert decision(plan, state) == {"a": "x"}
    state.add("failed", stage="final", candidate="x", workload="a", facts=[])
    assert decision(plan, state) == {"a": None}
