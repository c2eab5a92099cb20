"""One workload's row: ratios with their intervals, times, floors, and the verdict with the facts behind it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..numerics.outputs import Fact, fact
from .decide import best_own, failed_in
from .lines import Line
from .names import CONTROL, MODES, OWN
from .plan import Plan
from .state import State, StateError
from .statistics import Blocks, Interval, median, ratio_interval

BAD = ("wrong", "failed")
UNSOUND = ("control_failed", "clock_low", "timing_unfinished", "untimed_work")
"""Where one of these is said of a workload, its figures decide nothing."""
NO_RESULT = ("below_floor", "other_binary_ran", "wrong_code_ran")
"""Errors that do not say that a result is wrong, but that what was timed is none."""


@dataclass(frozen=True, slots=True)
class Finals:
    """The samples of one workload from all its processes."""

    lines: tuple[Line, ...]

    def names(self) -> list[str]:
        """Those that were timed in every trial of every process."""
        everyone = [set(trial) for mode in MODES for line in self.lines for trial in line[mode] if trial]
        return sorted(set.intersection(*everyone)) if everyone else []

    def blocks(self, first: str, second: str, mode: str) -> Blocks:
        """Pairs of two versions by process and trial."""
        return [
            list(zip(trial[first], trial[second], strict=True))
            for line in self.lines
            for trial in line[mode]
            if trial
        ]

    def microseconds(self, name: str, mode: str) -> float:
        return median(self.samples(name, mode))

    def samples(self, name: str, mode: str) -> list[float]:
        """All of one version, in microseconds."""
        return [value for line in self.lines for trial in line[mode] if trial for value in trial[name]]

    def rounds(self) -> int:
        """Samples of the process and mode that has fewest."""
        return min(sum(len(t["original"]) for t in line[mode] if t) for line in self.lines for mode in MODES)


def finals_of(state: State, label: str) -> Finals:
    """The last line of every process that timed the workload and came to its end."""
    last: dict[int, Line] = {}
    for line in state.all("final"):
        failed = state.last("failed", stage="time_final", workload=label, process=line["process"])
        if line["workload"] == label and failed is None and all(line[mode] and line[mode][0] for mode in MODES):
            last[line["process"]] = line
    return Finals(tuple(last[process] for process in sorted(last)))


def interval(plan: Plan, finals: Finals, first: str, second: str, mode: str) -> Interval:
    """How many times faster `second` is than `first`."""
    numbers = plan.numbers.timing
    return ratio_interval(
        finals.blocks(first, second, mode), numbers.bootstrap_resamples, numbers.confidence, int(plan.id[:8], 16)
    )


def row(plan: Plan, state: State, label: str, chosen: str | None) -> dict[str, Any]:
    """Everything that is said of one workload. `chosen` runs there; None keeps the original."""
    finals, baseline = finals_of(state, label), state.last("baseline", workload=label)
    made: dict[str, Any] = {
        "label": label,
        "parameters": baseline["parameters"] if baseline else {},
        "chosen": chosen,
        "facts": [],
        "launches": baseline["launches"] if baseline else [],
    }
    if baseline is None or not finals.lines or not {CONTROL, *filter(None, [chosen])} <= set(finals.names()):
        return made | _without_finals(state, label, chosen)
    floor = floors(baseline, state)
    names = finals.names()
    made["floor"] = floor
    made["candidates"] = {
        name: _figures(plan, finals, name, floor) for name in names if name != CONTROL
    }
    made["control"] = {mode: interval(plan, finals, "original", CONTROL, mode).to_dict() for mode in MODES}
    own = best_own(state, label)
    made["own"] = {"name": own[0], "options": own[1]} if own and OWN in names else None
    made["samples"] = {mode: len(finals.samples("original", mode)) for mode in MODES}
    made["dropped"] = sum(line["dropped"] for line in finals.lines)
    made["reference"] = finals.lines[0]["reference"]
    made["audited"] = [line["audited"] for line in finals.lines]
    made["clocks"] = [line["clocks"] for line in finals.lines]
    made["facts"] = _facts(plan, state, finals, label, made)
    made["sound"] = not any(
        f["code"] in UNSOUND or _about(f) == CONTROL or (_about(f) == "original" and f["severity"] == "error")
        for f in made["facts"]
    )
    made["verdict"] = _verdict(plan, made, chosen)
    return made


def floors(baseline: Line, state: State) -> dict[str, Any]:
    """Microseconds below which nothing can be, by mode; and `possible`, the least that the error of bandwidths allows.

    A warm launch whose memory fits into L2 is bounded by L2's bandwidth; otherwise what does not fit comes from the
    device, and the fraction is taken of the device's floor.
    """
    session = state.last("session")
    if session is None:
        raise StateError(f"{state.path} does not say on what machine it was measured")
    moved = baseline["bytes_read"] + baseline["bytes_written"]
    device, l2 = (session["ceilings"][key] for key in ("device_bytes_per_second", "l2_bytes_per_second"))
    l2 = max(l2, device)
    fits = baseline["bytes_touched"] <= session["l2_bytes"]
    least = max(moved / l2, (moved - session["l2_bytes"]) / device)
    return {
        "bytes_read": baseline["bytes_read"],
        "bytes_written": baseline["bytes_written"],
        "cold_us": moved / device * 1e6,
        "warm_us": moved / (l2 if fits else device) * 1e6,
        "warm_from": "l2" if fits else "device",
        "possible_us": {"cold": moved / device * 1e6, "warm": least * 1e6},
    }


def _figures(plan: Plan, finals: Finals, name: str, floor: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"microseconds": {}, "ratio": {}, "of_floor": {}}
    for mode in MODES:
        taken = finals.microseconds(name, mode)
        found["microseconds"][mode] = round(taken, 4)
        found["of_floor"][mode] = round(floor[f"{mode}_us"] / taken, 4)
        if name != "original":
            found["ratio"][mode] = interval(plan, finals, "original", name, mode).to_dict()
    line = finals.lines[-1]
    host = line["host_microseconds"].get(name)
    if host is not None and found["microseconds"]["cold"] < plan.numbers.timing.short_kernel_microseconds:
        found["host_microseconds"] = host
    kernels = line["figures"].get(name) or [{}]
    found["built"] = [
        {key: one[key] for key in ("kernel", "key", "binary_sha256")} for one in kernels if one.get("key")
    ]
    found |= {key: kernels[0].get(key) for key in ("registers", "spill_bytes", "shared_memory_bytes", "num_warps")}
    return found


def _facts(plan: Plan, state: State, finals: Finals, label: str, made: dict[str, Any]) -> list[Fact]:
    numbers, found = plan.numbers.timing, []
    low, high = numbers.control_interval
    control = made["control"]["cold"]
    if not low <= control["low"] <= control["high"] <= high:
        found.append(fact("control_failed", "warning", ratio=control["median"], workload=label))
    if any(line["exhausted"] for line in finals.lines):
        found.append(fact("clock_low", "warning", workload=label, dropped=made["dropped"]))
    if len(finals.lines) < numbers.processes or finals.rounds() < numbers.final_samples:
        found.append(fact("timing_unfinished", "warning", what=f"the finals of {label}"))
    for name, one in made["candidates"].items():
        for mode in MODES:
            least = made["floor"]["possible_us"][mode] * numbers.floor_margin
            if one["microseconds"][mode] < least:
                found.append(fact("below_floor", candidate=name, measured_us=one["microseconds"][mode], floor_us=least))
        if name not in ("original", OWN):
            ratio = one["ratio"]["cold"]
            if ratio["median"] > numbers.suspicious_ratio:
                fields = {"candidate": name, "ratio": ratio["median"], "workload": label}
                found.append(fact("suspiciously_fast", "warning", **fields))
            if ratio["high"] < numbers.slower_below:
                found.append(fact("slower_here", "info", candidate=name, workload=label, ratio=ratio["median"]))
    if made["chosen"] is not None and made["own"] is not None:
        ratio = interval(plan, finals, OWN, made["chosen"], "cold").to_dict()
        if ratio["high"] < numbers.slower_below:
            fields = {"own": made["own"]["name"], "candidate": made["chosen"], "workload": label}
            found.append(fact("own_configuration_better", "warning", **fields, ratio=ratio["median"]))
    for line in finals.lines:
        found += _wrong(line)
        if operations := line["untimed"].get(made["chosen"]):
            fields = {"candidate": made["chosen"], "operations": ", ".join(sorted(operations))}
            found.append(fact("untimed_work", "warning", **fields))
    fraction = made["candidates"]["original"]["of_floor"]["cold"]
    if fraction >= numbers.memory_bound_fraction:
        kernel = plan.kernel or made["launches"][0]["kernel"]
        found.append(fact("memory_bound", "info", kernel=kernel, fraction=fraction, workload=label))
    return found


def _verdict(plan: Plan, made: dict[str, Any], chosen: str | None) -> str:
    numbers = plan.numbers.timing
    own = [f for f in made["facts"] if f["severity"] == "error" and _about(f) == chosen and chosen is not None]
    if any(f["code"] not in NO_RESULT for f in own):
        return "wrong"
    if own:
        return "failed"
    if not made["sound"]:
        return "inconclusive"
    if chosen is None:
        return "neutral"
    ratio = made["candidates"][chosen]["ratio"]["cold"]
    return verdict_of_interval(ratio["low"], ratio["high"], numbers.faster_above, numbers.slower_below)


def verdict_of_interval(low: float, high: float, above: float, below: float) -> str:
    """`faster`, `slower`, `neutral` where the interval lies between the bounds, else `inconclusive`."""
    if low > above:
        return "faster"
    if high < below:
        return "slower"
    return "neutral" if below <= low and high <= above else "inconclusive"


def _wrong(line: Line) -> list[Fact]:
    """What a process found wrong with the versions it was to time."""
    return [
        {**one, "data": {**one["data"], "candidate": name, "seed": line["seed"]}}
        for name, wrong in line["facts"].items()
        for one in wrong
    ]


def _about(one: Fact) -> str | None:
    name = one["data"].get("candidate") or one["fields"].get("candidate")
    return name if isinstance(name, str) else None


def _without_finals(state: State, label: str, chosen: str | None) -> dict[str, Any]:
    """A row that was not timed to the end: the reason, and the verdict that follows from it."""
    failed = state.last("failed", candidate=chosen, workload=label) if chosen else None
    failed = failed or state.last("failed", stage="time_baseline", workload=label)
    failed = failed or state.last("failed", stage="time_final", workload=label)
    if chosen is not None and failed_in(state, chosen, label):
        return {"sound": False, "verdict": "failed", "facts": failed["facts"] if failed else []}
    wrong = [one for line in state.all("final") if line["workload"] == label for one in _wrong(line)]
    if any(_about(one) == chosen and one["severity"] == "error" for one in wrong if chosen is not None):
        return {"sound": False, "verdict": "wrong", "facts": wrong}
    if any(_about(one) == CONTROL for one in wrong):
        return {"sound": False, "verdict": "inconclusive", "facts": wrong}
    unfinished = [fact("timing_unfinished", "warning", what=f"the finals of {label}")]
    return {"sound": False, "verdict": "inconclusive", "facts": failed["facts"] if failed else unfinished}
