"""The compile check from the main process: one worker a candidate, and figures against the original's."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skel.store.schema import Finding, Place

from ..findings import finding, from_fact
from ..isolation import Outcome, Workers
from ..protocol import Protocol
from ..subject import CandidateSource, Subject
from .compare import against_original, limits
from .report import CompileReport, KernelFigures
from .targets import Target, target_of

Progress = Callable[[str, dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class _Job:
    """One text on its way through the compiler."""

    one: CandidateSource
    file: str
    target: Target
    folder: Path
    future: Future[Outcome]

    @property
    def place(self) -> Place:
        return Place(file=self.file)

    @property
    def measured(self) -> str:
        return f"compile {self.target.name}"


def compile_check(
    original: Subject,
    candidates: Sequence[CandidateSource],
    *,
    target: str = "sm_90",
    workload: str | None = None,
    protocol: Protocol | None = None,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> tuple[CompileReport, list[CompileReport]]:
    """Compiles the original and every candidate for `target`; the original's report and theirs, in order.

    `workload` is the label of the one whose launches are compiled: without it the first of GPU_WORKLOADS, else of
    WORKLOADS. `workers` may be a running `Workers("compile")`; without it one is started and ended here. Raises
    ValueError for an unknown target, WorkerError where torch or triton are missing.
    """
    numbers, where = protocol or Protocol(), target_of(target)
    if workers is None:
        with Workers("compile", numbers.isolation) as own:
            return compile_check(
                original,
                candidates,
                target=target,
                workload=workload,
                protocol=numbers,
                workers=own,
                progress=progress,
            )
    workers.ready()
    begun = time.monotonic()
    everyone = [CandidateSource("original", original.text), *candidates]
    jobs = [_start(workers, original.with_text(one.text), one, where, workload, numbers) for one in everyone]
    reports: list[CompileReport] = []
    for job in jobs:
        outcome = job.future.result()
        shutil.rmtree(job.folder, ignore_errors=True)
        reports.append(_report(job, outcome, reports[0] if reports else None, numbers))
        if progress is not None:
            figures = {"candidate": job.one.name, "target": target, "within_limits": reports[-1].within_limits}
            progress("compiled", figures | {"seconds": round(time.monotonic() - begun, 2)})
    return reports[0], reports[1:]


def _start(
    workers: Workers, subject: Subject, one: CandidateSource, target: Target, workload: str | None, numbers: Protocol
) -> _Job:
    payload = {
        "subject": subject.to_dict(),
        "target": target.name,
        "workload": workload,
        "enable_fp_fusion": numbers.compile.enable_fp_fusion,
    }
    folder = workers.folder(f"compile-{one.sha256[:16]}")
    limit = numbers.isolation.compile_seconds
    future = workers.submit("compile", payload, folder=folder, subject_file=subject.path, seconds=limit)
    return _Job(one, subject.path, target, folder, future)


def _report(job: _Job, outcome: Outcome, original: CompileReport | None, numbers: Protocol) -> CompileReport:
    """What came of one job; `original` is absent for the original itself."""
    result = outcome.result
    kernels = tuple(KernelFigures.model_validate(launch) for launch in result.get("launches", ()))
    found = _failures(job, outcome) + _launches(job, outcome, kernels)
    over: list[Finding] = []
    if original is not None:
        spills = numbers.compile.spill_bytes
        over = limits(job.one.name, kernels, job.target, job.file, spills, original.kernels)
        found += against_original(job.one.name, kernels, original.kernels, job.target, job.file)
    compiled = outcome.done and bool(kernels) and not any(f.severity == "error" for f in found)
    return CompileReport(
        candidate=job.one.name,
        source_sha256=job.one.sha256,
        target=job.target.name,
        workload=result.get("workload"),
        compiled=compiled,
        within_limits=compiled and not over,
        kernels=kernels,
        after_launch=result.get("after_launch"),
        findings=tuple(found + over),
        seconds=outcome.seconds,
    )


def _launches(job: _Job, outcome: Outcome, kernels: Sequence[KernelFigures]) -> list[Finding]:
    """Whether there were hooks to run, and whether they launched a kernel of the file that is judged."""
    why = outcome.result.get("no_hooks")
    if why is not None:
        fields = {"file": job.file, "why": why}
        return [finding("no_workload", job.place, severity="warning", measured=job.measured, **fields)]
    if outcome.done and not any(kernel.file == Path(job.file).name for kernel in kernels):
        what = f"{job.one.name} launched no kernel of its own file"
        return [finding("launch_changed", job.place, severity="error", measured=job.measured, what=what)]
    return []


def _failures(job: _Job, outcome: Outcome) -> list[Finding]:
    """What ended the worker, in the terms of a compilation; and whether it compiled what it was given."""
    path = str(job.folder / Path(job.file).name)
    facts = outcome.wrong_code(job.one.name, job.one.sha256, path) + outcome.facts(job.one.name)
    return [_failure(job, fact) for fact in facts]


def _failure(job: _Job, fact: dict[str, Any]) -> Finding:
    fields, name = fact["fields"], job.one.name
    common: dict[str, Any] = {
        "severity": "error",
        "measured": job.measured,
        "candidate": name,
        "target": job.target.name,
    }
    if fact["code"] == "worker_timeout":
        return finding("compile_timeout", job.place, seconds=fields["seconds"], **common)
    if fact["code"] == "worker_raised" and fields["error"].startswith("KernelError: "):
        place = job.place.model_copy(update={"line": fields.get("line")})
        error = fields["error"].removeprefix("KernelError: ")
        return finding("compile_failed", place, error=error, data={"traceback": fields.get("traceback")}, **common)
    return from_fact(fact, job.place, job.measured)
