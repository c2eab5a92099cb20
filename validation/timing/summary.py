"""What a state says: rows by workload, means, the file's verdict. Pure; the same state gives the same summary."""

from __future__ import annotations

from typing import Any

from ..numerics.outputs import Fact, fact
from ..protocol import Timing
from .decide import decision, line_ratio, screened_ratios
from .names import MODES, OWN
from .plan import Plan
from .rows import BAD, Finals, finals_of, row, verdict_of_interval
from .state import State
from .statistics import Interval, geometric_interval, median
from .timers import DECIDING

DECIDING_NUMBERS = (
    "final_samples",
    "final_trials",
    "processes",
    "confidence",
    "control_interval",
    "faster_above",
    "slower_below",
    "workload_floor",
    "clock_fraction",
    "floor_margin",
    "l2_flush_factor",
)
"""Numbers of the protocol that make a verdict easier or harder to get."""


def summarise(plan: Plan, state: State) -> dict[str, Any]:
    """The document's `timing`: `verdict`, `workloads` (losers included), means, screening, and `facts`."""
    chosen = decision(plan, state)
    rows = [row(plan, state, label, chosen[label]) for label in state.workloads]
    session = state.last("session") or {}
    timer = session.get("timer")
    facts = _facts(plan, state)
    if not rows:
        line = state.last("failed")
        facts += line["facts"] if line else [fact("timing_unfinished", "warning", what="everything")]
    made: dict[str, Any] = {
        "timed": bool(rows),
        "timer": timer,
        "decided_by": "cold",
        "guarded": any(name is None for name in chosen.values()) or len(set(chosen.values())) > 1,
        "variants": list(dict.fromkeys(name for name in chosen.values() if name is not None)),
        "workloads": rows,
        "geometric_mean": _means(plan, state, rows),
        "screening": _screening(plan, state),
        "own_configurations": _own(state),
        "ceilings": session.get("ceilings"),
        "l2_bytes": session.get("l2_bytes"),
        "clocks": [line["clocks"] for line in state.all("final")][-1:],
        "seeds": {label: [line["seed"] for line in finals_of(state, label).lines] for label in state.workloads},
        "facts": facts,
    }
    made["verdict"] = _verdict(plan, made, timer)
    return made


def _verdict(plan: Plan, made: dict[str, Any], timer: str | None) -> str:
    """The file's: see docs/design.md, Verdicts."""
    rows, numbers = made["workloads"], plan.numbers.timing
    for bad in BAD:
        if any(one["verdict"] == bad for one in rows):
            return bad
    if not made["variants"] and _settled_badly(made):
        return _settled_badly(made)
    if timer not in DECIDING or not rows or not made["variants"] or not all(one["sound"] for one in rows):
        return "inconclusive"
    mean = made["geometric_mean"]["cold"]
    verdict = verdict_of_interval(mean["low"], mean["high"], numbers.faster_above, numbers.slower_below)
    lows = [one["candidates"][one["chosen"]]["ratio"]["cold"]["low"] for one in rows if one["chosen"] is not None]
    if verdict == "faster" and min(lows) < numbers.workload_floor:
        return "inconclusive"
    return verdict


def _settled_badly(made: dict[str, Any]) -> str:
    """Where no candidate could be timed: `wrong`, `failed` or `over_limits`, as the last of them ended; else empty."""
    codes = {one["code"] for one in made["facts"] if one["severity"] == "error"}
    if not codes:
        return ""
    if codes <= {"spills"}:
        return "over_limits"
    return "wrong" if codes & {"values_differ", "nonfinite_differs", "outputs_differ", "shape_differs"} else "failed"


def _means(plan: Plan, state: State, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Geometric means over workloads of what is chosen: over the original as shipped, by mode; over the original's own
    best configuration, where other configurations were tried; over the best widened tile; and the smallest ratio.
    Absent where a workload has no finals."""
    complete = [one for one in rows if "candidates" in one]
    if not rows or len(complete) < len(rows):
        return {}
    means: dict[str, Any] = {}
    for mode in MODES:
        means[mode] = _mean(plan, state, rows, mode, lambda one: "original").to_dict()
        if any(line["options"] for line in state.all("own")):
            over_own = _mean(plan, state, rows, mode, lambda one: OWN if one["own"] else "original")
            means[f"{mode}_over_own"] = over_own.to_dict()
        if all(_widened(plan, one) for one in rows):
            means[f"{mode}_over_widened"] = _mean(plan, state, rows, mode, lambda one: _widened(plan, one)).to_dict()
        ratios = [one["candidates"][one["chosen"]]["ratio"][mode]["median"] if one["chosen"] else 1.0 for one in rows]
        means[f"{mode}_minimum"] = min(ratios)
    return means


def _mean(plan: Plan, state: State, rows: list[dict[str, Any]], mode: str, against: Any) -> Interval:
    numbers = plan.numbers.timing
    blocks, fixed = [], 0
    for one in rows:
        finals: Finals = finals_of(state, one["label"])
        first, second = against(one), one["chosen"] or "original"
        if first == second:
            fixed += 1
        else:
            blocks.append(finals.blocks(first, second, mode))
    seed = int(plan.id[:8], 16)
    return geometric_interval(blocks, numbers.bootstrap_resamples, numbers.confidence, seed, fixed=fixed)


def _widened(plan: Plan, one: dict[str, Any]) -> str | None:
    """The best of the widened tiles that went to the finals; they were chosen by screening."""
    names = [name for name in one["candidates"] if name not in ("original", OWN) and plan.candidate(name).is_widened]
    return min(names, key=lambda name: one["candidates"][name]["microseconds"]["cold"], default=None)


def _screening(plan: Plan, state: State) -> list[dict[str, Any]]:
    """Every candidate on every workload: its ratios and times, or why there are none."""
    cold, warm = screened_ratios(plan, state, "cold"), screened_ratios(plan, state, "warm")
    found = []
    for one in plan.candidates:
        for label in state.workloads:
            line = state.last("screened", candidate=one.name, workload=label)
            entry: dict[str, Any] = {"candidate": one.name, "workload": label, "settings": dict(one.settings)}
            if line is not None and label in cold.get(one.name, {}):
                entry |= {"cold": round(cold[one.name][label], 4), "warm": round(warm[one.name][label], 4)}
                entry["microseconds"] = {mode: median(line[mode][one.name]) for mode in MODES}
            else:
                entry["why"] = _why_not(state, one.name, label)
            found.append(entry)
    return found


def _why_not(state: State, name: str, label: str) -> str:
    for kind in ("failed", "verified"):
        line = state.last(kind, candidate=name, workload=label)
        if line is not None and line.get("facts"):
            return str(line["facts"][0]["code"])
        if line is not None and line.get("untimed"):
            return "untimed_work"
    return "timing_unfinished"


def _own(state: State) -> list[dict[str, Any]]:
    found = []
    for line in state.all("own"):
        rates = {name: round(line_ratio(line, "cold", name), 4) for name in line["options"]}
        found.append({"workload": line["workload"], "cold": rates, "left_out": line["left_out"]})
    return found


def _changed_numbers(plan: Plan) -> str:
    """The numbers that a verdict hangs on, where they are not the protocol's; empty where all are."""
    own, usual = plan.numbers.timing, Timing()
    changed = [name for name in DECIDING_NUMBERS if getattr(own, name) != getattr(usual, name)]
    return ", ".join(f"timing.{name}={getattr(own, name)}" for name in changed)


def _facts(plan: Plan, state: State) -> list[Fact]:
    """Facts about candidates that were not timed, once each; and that the verdict's numbers were changed."""
    found: list[Fact] = []
    if changed := _changed_numbers(plan):
        found.append(fact("own_numbers", "warning", numbers=changed))
    for one in plan.candidates:
        for kind in ("verified", "failed"):
            lines = [line for line in state.all(kind) if line.get("candidate") == one.name]
            facts = [f for line in lines for f in line.get("facts", ())]
            for code in dict.fromkeys(f["code"] for f in facts):
                first = next(f for f in facts if f["code"] == code)
                found.append({**first, "data": {**first["data"], "candidate": one.name}})
        verified = [line for line in state.all("verified") if line["candidate"] == one.name]
        if untimed := next((line["untimed"] for line in verified if line["untimed"]), None):
            operations = ", ".join(sorted(untimed))
            found.append(fact("untimed_work", "warning", candidate=one.name, operations=operations))
    return found
