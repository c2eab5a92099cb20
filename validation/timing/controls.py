"""`python -m skel.validation.timing.controls FILE --state DIR [--seconds N]`: how far timing can be trusted here.

FILE has hooks, many workloads and a line `CHANGED = False`; with True its launches are others. Every workload is timed
against itself and against the changed one, all of it twice. Needs torch and triton; goes on where it was cut off.
Exit status as that of `run`, 1 where a promise was broken: 19 of 20 controls inside 0.98 to 1.02, and the same verdict
both times wherever the ratio is outside 0.97 to 1.06.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..isolation import WorkerError
from ..protocol import Protocol
from ..subject import Subject, module_name
from .plan import Plan, PlanCandidate, PlanError
from .rows import finals_of, row, verdict_of_interval
from .run import FOREVER, UNFINISHED, work_off
from .state import State, StateError
from .statistics import median

SWITCH = "CHANGED = False\n"
CANDIDATE = "changed"
RUNS = ("first", "second")
NEAR = (0.97, 1.06)
"""Ratios in between may get another verdict when they are measured again."""
CONTROLS_INSIDE = 0.95
"""Part of the controls that must lie inside the protocol's interval."""
NUMBERS = {"timing.own_warps": (), "timing.screening_samples": 2, "timing.floor_probes": 8}
"""One candidate goes to the finals whatever screening says; other configurations of the original are not asked for, and
floors are beside the point. What is timed, and how, is the protocol's."""


def controls_plan(text: str, path: str) -> Plan:
    """Raises PlanError where the file has no switch."""
    if text.count(f"\n{SWITCH}") != 1:
        raise PlanError(f"{path} has no line {SWITCH.strip()!r}")
    changed = PlanCandidate(CANDIDATE, text.replace(SWITCH, SWITCH.replace("False", "True")))
    return Plan(Subject(text, path, module_name(path)), None, (changed,), None, Protocol().override(NUMBERS))


def table(plan: Plan, states: Sequence[State]) -> dict[str, Any]:
    """What was measured so far: `kernels` with a row a run, `summary`, environment and numbers. Plain values."""
    labels = list(dict.fromkeys(label for state in states for label in state.workloads))
    kernels = [{"kernel": label, "runs": [_row(plan, state, label) for state in states]} for label in labels]
    session = states[0].last("session") or {}
    return {
        "environment": session.get("environment"),
        "timer": session.get("timer"),
        "measured_at": [max((line["at"] for line in state.all("final")), default=None) for state in states],
        "protocol": plan.numbers.to_dict()["timing"],
        "kernels": kernels,
        "summary": _summary(plan, kernels),
    }


def kept(document: dict[str, Any]) -> bool:
    """True where everything was measured and both promises hold."""
    found = document["summary"]
    enough = all(inside >= CONTROLS_INSIDE * found["kernels"] for inside in found["controls_inside"])
    return bool(found["kernels"] == found["measured"] and enough and found["same_verdict"] == found["decided"])


def _row(plan: Plan, state: State, label: str) -> dict[str, Any] | None:
    """One run of one workload; None where it has no finals. `why` is there where the change could not be timed."""
    made = row(plan, state, label, CANDIDATE)
    if "candidates" not in made:
        made = row(plan, state, label, None)
    if "candidates" not in made:
        return None
    low, high = plan.numbers.timing.control_interval
    control, original = made["control"], made["candidates"]["original"]
    found = {
        "microseconds": original["microseconds"],
        "host_microseconds": original.get("host_microseconds"),
        "of_floor": original["of_floor"],
        "control": control,
        "inside": low <= control["cold"]["low"] <= control["cold"]["high"] <= high,
        "samples": made["samples"],
        "dropped": made["dropped"],
        "clocks": made["clocks"],
        "audited": made["audited"],
    }
    if CANDIDATE in made["candidates"]:
        found["ratio_by_process"] = [_median_ratio(line["cold"]) for line in finals_of(state, label).lines]
        return found | {"ratio": made["candidates"][CANDIDATE]["ratio"], "verdict": made["verdict"]}
    about = {"candidate": CANDIDATE, "workload": label}
    checked = state.last("failed", **about) or state.last("verified", **about)
    return found | {"why": checked["facts"][0]["code"] if checked and checked["facts"] else "timing_unfinished"}


def _median_ratio(trials: Sequence[dict[str, list[float]]]) -> float:
    pairs = [a / b for t in trials for a, b in zip(t["original"], t[CANDIDATE], strict=True)]
    return round(median(pairs), 4)


def _summary(plan: Plan, kernels: list[dict[str, Any]]) -> dict[str, Any]:
    runs_made = len(kernels[0]["runs"]) if kernels else len(RUNS)
    whole = [one["runs"] for one in kernels if all(one["runs"])]
    both = [runs for runs in whole if all("ratio" in run for run in runs)]
    outside = [runs for runs in both if all(not NEAR[0] <= run["ratio"]["cold"]["median"] <= NEAR[1] for run in runs)]
    return {
        "kernels": len(kernels),
        "measured": len(whole),
        "controls_inside": [sum(runs[number]["inside"] for runs in whole) for number in range(runs_made)],
        "interval": list(plan.numbers.timing.control_interval),
        "near": list(NEAR),
        "decided": len(outside),
        "same_verdict_by_process": _agreeing(plan, outside),
        "same_verdict": sum(len({run["verdict"] for run in runs}) == 1 for runs in outside) if runs_made > 1 else None,
    }


def _agreeing(plan: Plan, outside: list[list[dict[str, Any]]]) -> int:
    """Of kernels outside NEAR those on which every process of every run, taken alone, gives the same verdict."""
    numbers = plan.numbers.timing
    found = 0
    for runs in outside:
        alone = {
            verdict_of_interval(ratio, ratio, numbers.faster_above, numbers.slower_below)
            for run in runs
            for ratio in run["ratio_by_process"]
        }
        found += len(alone) == 1
    return found


def lines(document: dict[str, Any]) -> list[str]:
    """The table as text, a line a kernel."""
    found = []
    for one in document["kernels"]:
        for run in filter(None, one["runs"]):
            ratio = run.get("ratio", {}).get("cold")
            control = run["control"]["cold"]
            found.append(
                f"{one['kernel']:18} {run['microseconds']['cold']:9.2f} us  control {control['median']:.4f} "
                f"({control['low']:.4f} to {control['high']:.4f}){' ' if run['inside'] else '!'} "
                + (f"ratio {ratio['median']:.4f} {run['verdict']}" if ratio else run["why"])
            )
    return [*found, json.dumps(document["summary"])]


def measure(plan: Plan, folder: Path, seconds: float, work: Callable[[Plan, Path, float], bool] = work_off) -> bool:
    """Works the plan off once for every run. True where all is measured. Raises as `work_off` does."""
    deadline = time.monotonic() + seconds
    return all(work(plan, folder / name, deadline - time.monotonic()) for name in RUNS)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m skel.validation.timing.controls", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--state", type=Path, required=True, help="folder of the two states and of controls.json")
    parser.add_argument("--seconds", type=float, default=FOREVER, help="begin nothing that would end later")
    given = parser.parse_args()
    try:
        plan = controls_plan(given.file.read_text(encoding="utf-8"), str(given.file))
        done = measure(plan, given.state, given.seconds)
        document = table(plan, [State(given.state / name, plan.id) for name in RUNS])
        (given.state / "controls.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    except (PlanError, StateError, OSError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    except WorkerError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 4
    print("\n".join(lines(document)))  # noqa: T201
    return UNFINISHED if not done else 0 if kept(document) else 1


if __name__ == "__main__":
    sys.exit(main())
