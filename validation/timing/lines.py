"""What a line of a state must look like to be believed: samples are times, and all of one plan, machine and timer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from .names import MODES

Line = dict[str, Any]
MACHINE = ("device", "torch", "triton")


def fault(line: Line) -> str | None:
    """Why no figure may be taken from this line; None where it is sound.

    A trial without samples (`{}`) is one that was given up.
    """
    kind = line["kind"]
    if kind == "session":
        rates = (line.get("ceilings") or {}).values()
        return None if all(map(_is_time, rates)) else "a bandwidth is no positive number"
    if kind not in ("own", "screened", "final"):
        return None
    if kind == "own" and not line.keys() & set(MODES):
        return None
    for mode in MODES:
        if mode not in line:
            return f"it has no {mode} samples"
        for samples in filter(None, line[mode]) if kind == "final" else [line[mode]]:
            if why := _samples_fault(samples):
                return why
    return None


def other_machine(session: Line, first: Line) -> str | None:
    """What differs between the machine of a session and that of the first; None where nothing does."""
    for key in MACHINE:
        now, then = session["environment"].get(key), first["environment"].get(key)
        if now != then:
            return f"this state was measured with {key} {then}, and here it is {now}"
    if session["timer"] != first["timer"]:
        return f"this state was measured with the timer {first['timer']}, not {session['timer']}"
    return None


def contradiction(lines: Iterable[Line]) -> str | None:
    """Why these lines are not those of one measurement; None where they may be."""
    first: Line | None = None
    labels: list[str] | None = None
    for line in lines:
        if line["kind"] == "workloads":
            if labels not in (None, line["labels"]) or len(set(line["labels"])) < len(line["labels"]):
                return f"the workloads are {', '.join(line['labels'])}, and were not"
            labels = line["labels"]
        elif labels is not None and line.get("workload") not in (None, *labels):
            return f"{line['workload']} is none of its workloads"
        if line["kind"] == "session":
            first = first or line
            if why := other_machine(line, first):
                return why
        if line["kind"] == "final" and first is not None and line.get("timer") not in (None, first.get("timer")):
            return f"finals were timed with {line['timer']}, not with {first.get('timer')}"
    return None


def _samples_fault(samples: Mapping[str, Any]) -> str | None:
    if "original" not in samples:
        return "the original was not timed in it"
    if len({len(taken) for taken in samples.values()}) != 1 or not samples["original"]:
        return "its versions have not as many samples as each other"
    if not all(_is_time(one) for taken in samples.values() for one in taken):
        return "a sample is no positive number"
    return None


def _is_time(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value) and value > 0
