"""Two runs of one kernel are held against each other, and further steps against the version they were added to."""

from __future__ import annotations

from typing import Any

from skel.measured_again import again_section, cold_ratios, composed_section


def _evidence(ratios: dict[str, float], final: float | None = None, **settings: str) -> dict[str, Any]:
    screening: list[dict[str, Any]] = [
        {"candidate": name, "workload": "a", "settings": settings if "+" in name else {}, "cold": ratio, "warm": ratio}
        for name, ratio in ratios.items()
    ]
    screening.append({"candidate": "failed", "workload": "a", "settings": {}, "verdict": "wrong"})
    found = {"x": {"ratio": {"cold": {"median": final}}}} if final is not None else {}
    row = {"label": "a", "candidates": {"original": {}, **found}, "own": None}
    return {"file": "k.py", "kernel": "k", "verdict": "faster", "timing": {"screening": screening}, "workloads": [row]}


def test_finals_count_for_more_than_screening() -> None:
    assert cold_ratios(_evidence({"x": 1.5, "y": 0.9}, final=1.4)) == {("a", "x"): 1.4, ("a", "y"): 0.9}


def test_verdicts_that_differ_are_counted() -> None:
    pairs = [_evidence({"x": 1.5, "y": 1.2, "z": 1.0}), _evidence({"x": 1.5, "y": 0.9, "z": 1.05})]
    text = "\n".join(again_section(pairs))
    assert "Of the 2 outside 0.97 to 1.06, 1 have the same verdict" in text
    assert "33.3% at most" in text and "| a | y | 1.200 | 0.900 |" in text


def test_other_kernels_are_not_held_against_each_other() -> None:
    assert again_section([_evidence({"x": 1.5}), _evidence({"x": 1.5}) | {"file": "other.py"}]) == []


def test_what_a_step_adds() -> None:
    text = "\n".join(composed_section([_evidence({"x": 1.5, "x+s": 1.8}, composed="s")]))
    assert "| x + s | cold | 1.200 | 1.200 |" in text
    assert composed_section([_evidence({"x": 1.5})]) == []
