"""The compile check from the main process: one worker a candidate, and figures against the original's."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
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
                original, candidates, target=target, workload=workload, protocol=numbers, workers=own, progress=progress
            )
    workers.ready()
    everyone = [CandidateSource("original", original.text), *candidates]
    begun = time.monotonic()
    futures = [_submit(workers, original.with_text(one.text), where, workload, numbers) for one in everyone]
    reports: list[CompileReport] = []
    for one, future in zip(everyone, futures, strict=True):
        outcome = future.result()
        base = reports[0].kernels if reports else ()
        reports.append(_report(one, original.path, outcome, where, base, bool(reports), numbers))
        if progress is not None:
            progress(
                "compiled",
                {
                    "candidate": one.name,
                    "target": target,
                    "seconds": round(time.monotonic() - begun, 2),
                    "within_limits": reports[-1].within_limits,
                },
            )
    return reports[0], reports[1:]


def _submit(
    workers: Workers, subject: Subject, target: Target, workload: str | None, numbers: Protocol
) -> Future[Outcome]:
    payload = {
        "subject": subject.to_dict(),
        "target": target.name,
        "workload": workload,
        "enable_fp_fusion": numbers.compile.enable_fp_fusion,
    }
    return workers.submit(
        "compile",
        payload,
        folder=workers.folder(f"compile-{subject.sha256[:16]}"),
        subject_file=subject.path,
        seconds=numbers.isolation.compile_seconds,
    )


def _report(
    one: CandidateSource,
    file: str,
    outcome: Outcome,
    target: Target,
    original: tuple[KernelFigures, ...],
    has_original: bool,
    numbers: Protocol,
) -> CompileReport:
    place, measured = Place(file=file), f"compile {target.name}"
    result = outcome.result
    found = _failures(one, outcome, target, place)
    kernels = tuple(KernelFigures.model_validate(launch) for launch in result.get("launches", ()))
    over: list[Finding] = []
    if has_original:
        over = limits(one.name, kernels, target, file, numbers.compile.spill_bytes, original)
        found += against_original(one.name, kernels, original, target, file)
    if "no_hooks" in result:
        found.append(
            finding("no_workload", place, severity="warning", measured=measured, file=file, why=result["no_hooks"])
        )
    elif outcome.done and not kernels:
        found.append(
            finding("launch_changed", place, severity="error", measured=measured, what="run launched no Triton kernel")
        )
    compiled = outcome.done and bool(kernels) and not any(f.severity == "error" for f in found)
    return CompileReport(
        candidate=one.name,
        source_sha256=one.sha256,
        target=target.name,
        workload=result.get("workload"),
        compiled=compiled,
        within_limits=compiled and not over,
        kernels=kernels,
        after_launch=result.get("after_launch"),
        findings=tuple(found + over),
        seconds=outcome.seconds,
    )


def _failures(one: CandidateSource, outcome: Outcome, target: Target, place: Place) -> list[Finding]:
    """What ended the worker, in the terms of a compilation; and whether it compiled what it was given."""
    measured, found = f"compile {target.name}", []
    loaded = outcome.last("loaded")
    if loaded is not None and loaded["sha256"] != one.sha256:
        found.append(
            finding(
                "wrong_code_ran",
                place,
                severity="error",
                measured=measured,
                what=one.name,
                ran=loaded["sha256"],
                meant=one.sha256,
            )
        )
    for fact in outcome.facts(one.name):
        if fact["code"] == "worker_timeout":
            found.append(
                finding(
                    "compile_timeout",
                    place,
                    severity="error",
                    measured=measured,
                    candidate=one.name,
                    seconds=fact["fields"]["seconds"],
                    target=target.name,
                )
            )
        elif fact["code"] == "worker_raised":
            line = fact["fields"].get("line")
            found.append(
                finding(
                    "compile_failed",
                    place.model_copy(update={"line": line}),
                    severity="error",
                    measured=measured,
                    candidate=one.name,
                    target=target.name,
                    error=fact["fields"]["error"],
                    data={"traceback": fact["fields"].get("traceback")},
                )
            )
        else:
            found.append(from_fact(fact, place, measured))
    return found
