"""Submits timing tasks: payloads, time limits, what the host compiled, and results into the state as they come.

What was timed is held against what was checked, binary by binary."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..isolation import Outcome, Workers
from .bench_context import SCREENING_SEED
from .held import with_binaries_held
from .plan import Plan
from .state import State

FIRST_GUESS = {"time_baseline": 5.0, "time_own": 8.0, "time_verify": 4.0, "time_screen": 1.0, "time_final": 12.0}
"""Seconds that a unit of a task is taken to need before one was seen: a workload, or a candidate on a workload."""
START_SECONDS = 8.0
"""Seconds that a task may need to begin."""
MARGIN = 1.3
RESULTS = ("session", "workloads", "baseline", "own", "verified", "final")
"""Events that become lines of the state as they are."""


class OutOfTime(Exception):
    """There is no time left for the next task."""


class Submitter:
    """Runs tasks for one plan. A payload names its candidates; their texts are filled in here."""

    def __init__(
        self, plan: Plan, state: State, workers: Workers, deadline: float, device: str, timer: str,
        say: Callable[[str], None],
    ) -> None:
        self._plan, self._state, self._workers, self._deadline = plan, state, workers, deadline
        self._device, self._timer, self._say = device, timer, say
        # A worker runs in a folder of its own; the file's neighbours are looked for where the plan is worked off.
        self._subject = replace(plan.subject, path=str(Path(plan.subject.path).absolute()))
        self._unit_seconds: dict[str, float] = {}
        self._cache = workers.folder("caches") / "original"
        self._broken: Exception | None = None

    def run(self, task: str, payload: dict[str, Any], units: int) -> Outcome:
        """One task. Raises OutOfTime, StateError, WorkerError."""
        return self.run_all(task, [payload], units)[0]

    def run_all(self, task: str, payloads: Sequence[dict[str, Any]], units: int) -> list[Outcome]:
        """Several tasks at once, of about `units` units each. Raises as `run` does."""
        left, needed = self._deadline - time.monotonic(), self._expected(task, units)
        if left < needed:
            raise OutOfTime(f"time is up before {task}, which takes about {needed:.0f} s")
        begun = time.monotonic()
        running = [(payload, *self._submit(task, payload, left)) for payload in payloads]
        outcomes = []
        for payload, folder, future in running:
            outcomes.append(future.result())
            self._keep_cache(payload, folder)
            shutil.rmtree(folder, ignore_errors=True)
        spent = time.monotonic() - begun
        if self._broken is not None:
            raise self._broken
        each = max(0.0, spent - START_SECONDS / 2) / max(1, units)
        self._unit_seconds[task] = max(self._unit_seconds.get(task, 0.0), each)
        names = ", ".join(dict.fromkeys(name for payload in payloads for name in payload.get("candidates", ())))
        self._say(f"{task} in {spent:.1f} s {names}")
        return outcomes

    def affordable(self, task: str, units: int) -> int:
        """How many of `units` there is time for, at least one."""
        while units > 1 and self._deadline - time.monotonic() < self._expected(task, units):
            units -= 1
        return units

    def facts(self, outcome: Outcome, what: str) -> list[dict[str, Any]]:
        """How the task ended where it did not come to its end, and code that ran and was not meant to."""
        return self._wrong_code(outcome) + outcome.facts(what)

    def _expected(self, task: str, units: int) -> float:
        return START_SECONDS + self._unit_seconds.get(task, FIRST_GUESS[task]) * units * MARGIN

    def _submit(self, task: str, payload: dict[str, Any], left: float) -> tuple[Path, Future[Outcome]]:
        folder = self._workers.folder(task)
        given = [self._plan.candidate(name) for name in payload.get("candidates", ())]
        self._bring_cache(folder)
        filled = payload | {
            "candidates": [{"name": one.name, "text": one.text, "exact": one.exact} for one in given],
            "subject": self._subject.to_dict(),
            "kernel": self._plan.kernel,
            "device": self._device,
            "timer": self._timer,
            "numbers": self._plan.numbers.to_dict(),
            "seed": secrets.randbelow(2**31) if task == "time_final" else SCREENING_SEED,
        }
        future = self._workers.submit(
            task, filled, folder=folder, subject_file=self._plan.subject.path,
            seconds=min(self._plan.numbers.isolation.run_seconds, max(left, 1.0)),
            on_event=lambda event: self._take(event, payload),
        )
        return folder, future

    def _take(self, event: dict[str, Any], payload: dict[str, Any]) -> None:
        """Called from the thread that reads: what goes wrong there is raised by `run_all`."""
        try:
            if self._broken is None:
                self._keep(event, payload)
        except Exception as error:
            self._broken = error

    def _keep(self, event: dict[str, Any], payload: dict[str, Any]) -> None:
        kind, fields = event["event"], {key: value for key, value in event.items() if key != "event"}
        if kind in ("machine", "session"):
            self._state.require_same_machine(fields)
        if kind in ("session", "final"):
            fields["at"] = time.time()
        if kind == "final":
            fields["process"] = payload["process"]
            fields["facts"] = with_binaries_held(self._state, fields)
        if kind in RESULTS:
            self._state.add(kind, **fields)
        elif kind == "screened_together":
            self._add_screened(fields)

    def _add_screened(self, fields: dict[str, Any]) -> None:
        """A line a candidate, each with the original's samples of the same rounds."""
        for name in fields["candidates"]:
            samples = {
                mode: {key: fields[mode][key] for key in ("original", name)} for mode in ("cold", "warm")
            }
            host = {key: fields["host_microseconds"][key] for key in ("original", name)}
            seconds = {part: round(spent, 2) for part, spent in fields["seconds"].items()}
            self._state.add("screened", workload=fields["workload"], candidate=name, dropped=fields["dropped"],
                            host_microseconds=host, batch_seconds=seconds, **samples)

    def _wrong_code(self, outcome: Outcome) -> list[dict[str, Any]]:
        found = []
        for event in (*outcome.all("original_loaded"), *outcome.all("candidate_loaded")):
            name = event.get("name")
            meant = self._plan.candidate(name).sha256 if name else self._plan.subject.sha256
            if event["sha256"] != meant:
                fields = {"what": name or "the original", "ran": event["sha256"], "meant": meant}
                found.append({"code": "wrong_code_ran", "fields": fields, "data": {}, "severity": "error"})
        return found

    def _bring_cache(self, folder: Path) -> None:
        """What Triton compiled for the host of the original. Kernels are compiled anew in every worker."""
        if self._cache.exists():
            shutil.copytree(self._cache, folder / "cache", symlinks=True, dirs_exist_ok=True)

    def _keep_cache(self, payload: dict[str, Any], folder: Path) -> None:
        """Only from workers of the original alone: what a candidate left is never brought to another process."""
        if not payload.get("candidates") and (folder / "cache").exists():
            shutil.copytree(folder / "cache", self._cache, symlinks=True, dirs_exist_ok=True)
