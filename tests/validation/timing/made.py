"""States made by hand: samples with chosen ratios and a little noise, so that decisions and verdicts can be tested."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skel.validation.protocol import Protocol
from skel.validation.subject import Subject
from skel.validation.timing.plan import Plan, PlanCandidate
from skel.validation.timing.state import State

BASE = 100.0
"""Microseconds of the original."""
Ratios = Mapping[str, Mapping[str, float]]


def plan_of(*names: str, skeleton: str | None = "fuse_vtiles", **numbers: Any) -> Plan:
    """A plan with candidates of those names; names that begin with `widen` are widened."""
    quick = {"timing.bootstrap_resamples": 300, **{f"timing.{key}": value for key, value in numbers.items()}}
    candidates = tuple(
        PlanCandidate(name, f"# {name}\n", {"form": "widen" if name.startswith("widen") else "loop"}) for name in names
    )
    return Plan(Subject("# original\n", "k.py", "k"), "kernel", candidates, skeleton, Protocol().override(quick))


def screened(folder: Path, plan: Plan, ratios: Ratios, *, timer: str = "cuda graph", moved: int = 1000) -> State:
    """A state that ends after screening: `ratios` by candidate and workload; a missing workload is over the limits."""
    state = State(folder, plan.id)
    labels = list(dict.fromkeys(label for by_label in ratios.values() for label in by_label))
    rates = {"device_bytes_per_second": 1e12, "l2_bytes_per_second": 2e12}
    state.add(
        "session",
        ceilings=rates,
        environment={"device": "a GPU", "torch": "2", "triton": "3"},
        l2_bytes=1 << 20,
        timer=timer,
        clocks={},
        at=0.0,
    )
    state.add("workloads", labels=labels)
    rng = random.Random(1)
    for label in labels:
        launch = {"kernel": "kernel", "grid": [4], "constants": {}, "dtypes": {}}
        state.add(
            "baseline",
            workload=label,
            parameters={"n": 1},
            bytes_touched=moved,
            bytes_read=moved // 2,
            bytes_written=moved - moved // 2,
            steady=True,
            launches=[launch],
            tensors={},
            uncounted=[],
        )
        state.add("own", workload=label, options={}, left_out={}, **samples({"original": 1.0}, 20, rng))
        for name, by_label in ratios.items():
            spilled = {
                "code": "spills",
                "fields": {"candidate": name, "bytes": 8, "target": "this GPU"},
                "data": {},
                "severity": "error",
            }
            facts = [] if label in by_label else [spilled]
            state.add("verified", workload=label, candidate=name, facts=facts, figures=[], untimed={})
            if label in by_label:
                state.add(
                    "screened",
                    workload=label,
                    candidate=name,
                    dropped=0,
                    host_microseconds={},
                    **samples({"original": 1.0, name: by_label[label]}, 20, rng),
                )
    return state


def add_finals(state: State, label: str, ratios: Mapping[str, float], *, processes: int = 2, **fields: Any) -> None:
    """The finals of one workload; `control` is added where it is not given."""
    rng = random.Random(2)
    everyone = {"original": 1.0, "control": 1.0, **ratios}
    for process in range(processes):
        trials = {mode: [samples(everyone, 20, rng)["cold"] for _ in range(3)] for mode in ("cold", "warm")}
        line = {
            "seed": 1,
            "timer": "cuda graph",
            "seconds": 1.0,
            "clocks": [],
            "facts": {},
            "audited": {},
            "reference": {},
            "untimed": {},
            "figures": {},
            "host_microseconds": dict.fromkeys(everyone, 3.0),
            "dropped": 0,
            "exhausted": False,
            "at": 10.0,
        }
        state.add("final", workload=label, process=process, **line | trials | fields)


def samples(ratios: Mapping[str, float], count: int, rng: random.Random) -> dict[str, dict[str, list[float]]]:
    """Microseconds by mode and name, each with half a percent of noise."""
    return {
        mode: {name: [BASE / ratio * rng.gauss(1, 0.005) for _ in range(count)] for name, ratio in ratios.items()}
        for mode in ("cold", "warm")
    }
