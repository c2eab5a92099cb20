"""A plan worked off from start to end in the interpreter, with the host's clock; cheats and faults; going on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from skel.validation.bench import read_bench
from skel.validation.isolation import Workers
from skel.validation.protocol import Protocol
from skel.validation.subject import Subject
from skel.validation.timing.plan import Plan, PlanCandidate
from skel.validation.timing.state import State, StateError
from skel.validation.timing.work import Work

ORIGINAL = Path(__file__).parents[1] / "fixtures" / "row_norm.py"
TEXT = ORIGINAL.read_text(encoding="utf-8").replace(', {"name": "ragged", "D": 11}', "")
END = '    return {"y": y, "norm": norm}\n\n'
NUMBERS = Protocol().override(
    {
        "isolation.run_seconds": 60,
        "timing.floor_probes": 4,
        "timing.bandwidth_bytes": 1 << 14,
        "timing.graph_milliseconds": 0.001,
        "timing.host_launches": 1,
        "timing.warmup_runs": 1,
        "timing.warmup_milliseconds": 0.0,
        "timing.screening_samples": 2,
        "timing.final_samples": 2,
        "timing.final_trials": 1,
        "timing.pair_seconds": 0.1,
        "timing.own_warps": (1,),
        "timing.own_stages": (3,),
        "timing.bootstrap_resamples": 100,
    }
)
CANDIDATES = {
    "widened": TEXT.replace("BD = 8", "BD = triton.next_power_of_2(D)"),
    "wrong": TEXT.replace("b_x / n *", "b_x / n * 1.5 *"),
    "raises": TEXT + "\nraise ValueError(3)\n",
    # What it launches is cheap; the work is done by torch, where nobody would time it.
    "moved": TEXT.replace(END, '    y.copy_(reference(inputs)["y"])\n' + END),
    "cached": TEXT.replace("def run(inputs):", "S = []\n\n\ndef run(inputs):\n    if S:\n        return S[0]").replace(
        END, '    S.append({"y": y, "norm": norm})\n    return S[0]\n\n'
    ),
    "stops the clock": TEXT + "\nimport time\ntime.perf_counter = lambda: 0.0\n",
    "ends the process": TEXT.replace("    BD = 8\n", "    import os\n    os._exit(7)\n"),
}


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers("interpret", NUMBERS.isolation, 2) as running:
        yield running


def plan_of(*names: str) -> Plan:
    candidates = tuple(PlanCandidate(name, CANDIDATES[name], {"form": "widen"}) for name in names)
    return Plan(Subject(TEXT, str(ORIGINAL), "row_norm"), "row_norm_kernel", candidates, "fuse_vtiles", NUMBERS)


def work(plan: Plan, state: State, workers: Workers, seconds: float = 300.0) -> bool:
    said: list[str] = []
    deadline = time.monotonic() + seconds
    return Work(plan, state, workers, deadline, device="cpu", timer="host clock", say=said.append).run()


def test_from_plan_to_result(tmp_path: Path, workers: Workers) -> None:
    plan = plan_of(*CANDIDATES)
    state = State(tmp_path, plan.id)
    assert not work(plan, state, workers, 1.0) and not state.all("screened"), "no time: nothing is begun"
    assert work(plan, state, workers)
    why = {entry["candidate"]: entry.get("why") for entry in read_bench(plan, tmp_path).timing["screening"]}
    assert why == {
        "widened": None,
        "wrong": "values_differ",
        "raises": "worker_raised",
        "moved": "untimed_work",
        "cached": "worker_raised",
        "stops the clock": "worker_raised",
        "ends the process": "worker_crashed",
    }
    floor = state.last("baseline", workload="even")
    assert (floor["bytes_read"], floor["bytes_written"]) == (4 * (2 * 16 + 16), 4 * (2 * 16 + 2))
    assert floor["launches"][0]["constants"]["BD"] == 8 and floor["launches"][0]["dtypes"]["x"] == "float32"
    finals = state.all("final")
    assert [line["process"] for line in finals] == [0, 1] and finals[0]["seed"] != finals[1]["seed"]
    assert all(set(line["cold"][0]) >= {"original", "control", "widened"} for line in finals)
    assert all(line["audited"]["widened"]["tensors"] == [4, 4] and line["reference"]["compared"] for line in finals)
    assert read_bench(plan, tmp_path).verdict == "inconclusive", "the host's clock decides nothing"
    lines = len(state.lines)
    assert work(plan, State(tmp_path, plan.id), workers) and len(State(tmp_path, plan.id).lines) == lines


def test_what_was_measured_is_not_measured_again(tmp_path: Path, workers: Workers) -> None:
    plan = plan_of("widened")
    state = State(tmp_path, plan.id)
    assert work(plan, state, workers)
    kept = [line for line in state.lines if line["kind"] != "final" or line["process"] == 0]
    state.path.write_text("".join(f"{line}\n" for line in map(_json, kept)))
    again = State(tmp_path, plan.id)
    assert work(plan, again, workers)
    assert [line["kind"] for line in again.lines[len(kept) :]] == ["final"]
    other = [line | {"environment": {"device": "another"}} if line["kind"] == "session" else line for line in kept]
    state.path.write_text("".join(f"{line}\n" for line in map(_json, other)))
    with pytest.raises(StateError, match="begin a new one"):
        work(plan, State(tmp_path, plan.id), workers)


def test_an_original_that_cannot_run_ends_it(tmp_path: Path, workers: Workers) -> None:
    subject = Subject(TEXT + "\nraise ValueError(3)\n", str(ORIGINAL), "row_norm")
    broken = Plan(subject, None, (), "fuse_vtiles", NUMBERS)
    state = State(tmp_path, broken.id)
    assert work(broken, state, workers)
    result = read_bench(broken, tmp_path)
    assert result.verdict in ("failed", "inconclusive") and "worker_raised" in [f.code for f in result.findings]


def _json(line: dict[str, object]) -> str:
    import json

    return json.dumps(line)
