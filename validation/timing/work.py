"""Works off a plan: baseline, own configurations, checks, screening, finals, in workers of their own, until time is up.

What is pending is read off the state before each step, so a stretch that was cut off is simply gone on with.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..isolation import Outcome, Workers
from .decide import best_own, failed_in, finalists, pending_checks, pending_screening
from .lock import open_lock
from .plan import Plan
from .state import State
from .tasks import OutOfTime, Submitter

Entry = dict[str, Any]


class Work:
    """One stretch of work on a plan. `deadline` is on `time.monotonic`'s clock; no task begins that would outrun it.

    `timer` is the plan's where it is not given.
    """

    def __init__(
        self,
        plan: Plan,
        state: State,
        workers: Workers,
        deadline: float,
        *,
        device: str = "cuda",
        timer: str | None = None,
        say: Callable[[str], None] = print,
    ) -> None:
        self._plan, self._state, self._say = plan, state, say
        self._tasks = Submitter(plan, state, workers, deadline, device, timer or plan.numbers.timing.timer, say)
        self._alone: set[str] = set()
        """Candidates in whose company a screening process ended: each is screened by itself."""

    def run(self) -> bool:
        """True where nothing is left to be measured, False where time was up before. Raises StateError, WorkerError."""
        try:
            self._baseline()
            if self._state.workloads:  # else the original cannot be run; the line `failed` says why
                self._own()
                self._check()
                self._screen()
                self._finals()
        except OutOfTime as stop:
            self._say(str(stop))
            return False
        return True

    def _baseline(self) -> None:
        while (missing := self._missing("baseline")) or not (self._state.workloads or self._state.all("failed")):
            outcome = self._tasks.run("time_baseline", {"workloads": missing or None}, max(1, len(missing)))
            self._note("time_baseline", outcome, missing)

    def _own(self) -> None:
        numbers = self._plan.numbers.timing
        if not numbers.own_warps or not numbers.own_stages:
            return
        while missing := self._missing("own"):
            outcome = self._tasks.run("time_own", {"workloads": missing}, len(missing))
            self._note("time_own", outcome, missing)

    def _missing(self, kind: str) -> list[str]:
        """Labels for which there is neither a line of that kind nor one that says why not."""
        return [
            label
            for label in self._state.workloads
            if not self._state.last(kind, workload=label)
            and not self._state.last("failed", stage=f"time_{kind}", workload=label)
        ]

    def _check(self) -> None:
        """Several at a time: nothing is timed meanwhile. One that runs out of memory tries again by itself."""
        together = self._plan.numbers.timing.parallel_checks
        crowded: set[str] = set()
        while waiting := [one for one in self._plan.candidates if pending_checks(self._state, one.name)]:
            wave = [one for one in waiting if one.name not in crowded][:together] or waiting[:1]
            payloads = [
                {"workloads": pending_checks(self._state, one.name), "candidates": [one.name]} for one in wave
            ]
            outcomes = self._tasks.run_all("time_verify", payloads, len(self._state.workloads))
            for one, payload, outcome in zip(wave, payloads, outcomes, strict=True):
                facts = self._tasks.facts(outcome, one.name)
                if len(wave) > 1 and any(fact["code"] in ("worker_out_of_memory", "worker_timeout") for fact in facts):
                    crowded.add(one.name)
                elif facts:
                    labels = self._blamed_labels(outcome, payload["workloads"], facts)
                    self._fail("time_verify", one.name, labels, facts)

    def _blamed_labels(self, outcome: Outcome, labels: list[str], facts: list[dict[str, Any]]) -> list[str]:
        """The workload that ended a candidate's worker; all where it cannot be loaded, or was not what was meant."""
        begun = outcome.last("begin") or {}
        if begun.get("workload") is None or any(fact["code"] == "wrong_code_ran" for fact in facts):
            return labels
        return [begun["workload"]]

    def _screen(self) -> None:
        while pending := pending_screening(self._plan, self._state):
            names = [name for name in pending if name not in self._alone][: self._plan.numbers.timing.batch]
            names = names or list(pending)[:1]
            entries = [
                {"workload": label, "candidates": [name for name in names if label in pending[name]]}
                for label in self._state.workloads
            ]
            entries = [entry for entry in entries if entry["candidates"]]
            units = sum(1 + len(entry["candidates"]) for entry in entries)
            outcome = self._tasks.run("time_screen", {"entries": entries, "candidates": names}, units)
            self._judge_shared("time_screen", "screening", outcome, names)

    def _finals(self) -> None:
        for process in range(self._plan.numbers.timing.processes):
            while entries := self._final_entries(process):
                entries = entries[: self._tasks.affordable("time_final", len(entries))]
                names = list(dict.fromkeys(name for entry in entries for name in entry["candidates"]))
                payload = {"entries": entries, "candidates": names, "process": process}
                outcome = self._tasks.run("time_final", payload, len(entries))
                self._judge_shared("time_final", "final", outcome, names, process=process)

    def _final_entries(self, process: int) -> list[Entry]:
        entries = []
        for label, names in finalists(self._plan, self._state).items():
            if self._state.last("final", workload=label, process=process):
                continue
            if self._state.last("failed", stage="time_final", workload=label, process=process):
                continue
            own = best_own(self._state, label)
            left = [name for name in names if not failed_in(self._state, name, label)]
            entries.append({"workload": label, "own": own[1] if own else None, "candidates": left})
        return entries

    def _judge_shared(self, task: str, stage: str, outcome: Outcome, names: Sequence[str], **fields: Any) -> None:
        """Whom to blame for a process that several shared and that did not come to its end."""
        facts = self._tasks.facts(outcome, task)
        if not facts:
            return
        begun = outcome.last("begin") or {}
        label, blamed = begun.get("workload"), begun.get("candidate")
        if blamed not in names:
            blamed = names[0] if len(names) == 1 else None
        if blamed is not None:
            labels = [label] if label is not None else self._state.workloads
            self._fail(stage, blamed, labels, facts)
        elif task == "time_screen" and names:
            self._alone |= set(names)
        else:
            self._state.add("failed", stage=task, candidate=None, workload=label, facts=facts, **fields)
            self._say(f"{task} {label}: {facts[0]['code']}")

    def _note(self, task: str, outcome: Outcome, labels: Sequence[str]) -> None:
        """A line `failed` for the workload that ended a task of the original's, or for all of them."""
        facts = self._tasks.facts(outcome, task)
        if facts:
            label = (outcome.last("begin") or {}).get("workload")
            affected: list[str | None] = [label] if label is not None else [*labels] or [None]
            for one in affected:
                self._state.add("failed", stage=task, candidate=None, workload=one, facts=facts)
            self._say(f"{task}: {facts[0]['code']} {facts[0]['fields'].get('error', '')}")

    def _fail(self, stage: str, name: str, labels: Sequence[str], facts: list[dict[str, Any]]) -> None:
        for label in labels:
            self._state.add("failed", stage=stage, candidate=name, workload=label, facts=facts)
        self._say(f"{stage} {name}: {facts[0]['code']} {facts[0]['fields'].get('error', '')}")


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Waits for the lock of the GPU that CUDA calls 0, and holds it."""
    descriptor = open_lock()
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another measurement on this GPU ...", file=sys.stderr, flush=True)  # noqa: T201
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
