"""The numerics check of candidates against an original, from start to verdict. Imports neither torch nor triton."""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Callable, Sequence
from typing import Any

from skel.store.schema import Environment, Finding, NumericsClass, Verdict

from .isolation import Workers
from .numerics.sanitizer import here
from .protocol import Protocol
from .report import CandidateCheck, CheckReport
from .sanitizing import sanitize
from .session import Session
from .subject import CandidateSource, Subject
from .verdicts import join, verdict_of
from .workloads import subject_of
from .workloads.capture.judged import launch_not_replayed, of_capture

Progress = Callable[[str, dict[str, Any]], None]
"""Told of every step: its name (`original`, `candidate`) and figures."""


def check(
    original_text: str,
    candidate_texts: Sequence[str | CandidateSource],
    path: str,
    *,
    workload_file: str | None = None,
    numerics_class: NumericsClass = NumericsClass.REASSOCIATED,
    device: str = "cpu",
    full: bool = False,
    reference_outranks: bool = False,
    protocol: Protocol | None = None,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> CheckReport:
    """Runs the original and every candidate in workers of their own and compares what they compute.

    `path` is the original's file (named in findings, and where it imports its neighbours from), `workload_file` a
    sidecar, `numerics_class` how far results may move, `reference_outranks` true for records whose purpose is accuracy.
    `workers` may be a running `Workers("interpret")`, or `Workers("cuda")` for a GPU; without it one is started here.
    Raises SidecarError for a sidecar that does not fit, WorkerError where torch or triton are missing.
    """
    numbers = protocol or Protocol()
    subject = subject_of(original_text, path, workload_file)
    candidates = [
        one if isinstance(one, CandidateSource) else CandidateSource(f"candidate {number}", one)
        for number, one in enumerate(candidate_texts, 1)
    ]
    if workers is None:
        with Workers("cuda" if device.startswith("cuda") else "interpret", numbers.isolation) as own:
            return _check(subject, candidates, own, numerics_class, device, full, reference_outranks, numbers, progress)
    return _check(subject, candidates, workers, numerics_class, device, full, reference_outranks, numbers, progress)


def _check(
    subject: Subject,
    candidates: Sequence[CandidateSource],
    workers: Workers,
    numerics_class: NumericsClass,
    device: str,
    full: bool,
    reference_outranks: bool,
    numbers: Protocol,
    progress: Progress | None,
) -> CheckReport:
    begun = time.monotonic()
    ready = workers.ready()
    session = Session(
        workers,
        subject,
        device,
        full,
        numerics_class is NumericsClass.BITWISE,
        reference_outranks,
        numbers,
        progress or (lambda step, figures: None),
    )
    base = session.run_original()
    alone = {one.name: found for one in candidates if (found := launch_not_replayed(subject, one))}
    checked = session.run_candidates([one for one in candidates if one.name not in alone])
    checked, about = _under_sanitizer(session, subject, candidates, checked, numbers)
    judged = {one.name: one for one in checked} | {
        one.name: CandidateCheck(
            name=one.name,
            source_sha256=one.sha256,
            settings=one.settings,
            verdict=Verdict.INCONCLUSIVE,
            findings=(alone[one.name],),
        )
        for one in candidates
        if one.name in alone
    }
    return CheckReport(
        path=subject.path,
        original_sha256=subject.sha256,
        device=device,
        numerics_class=numerics_class,
        has_reference=base.has_reference,
        candidates=tuple(judged[one.name] for one in candidates),
        findings=(*base.findings(), *of_capture(subject), *about),
        shapes_skipped=len(base.skipped_shapes()),
        original_ran=session.ran(base.runs),
        sentinels_tried=base.sentinels["tried"],
        sentinels_rejected=base.sentinels["rejected"],
        environment=environment(workers, device),
        isolation={key: ready[key] for key in ("offline", "privileges")},
        protocol=numbers.to_dict(),
        seconds=round(time.monotonic() - begun, 3),
    )


def _under_sanitizer(
    session: Session,
    subject: Subject,
    candidates: Sequence[CandidateSource],
    checked: list[CandidateCheck],
    numbers: Protocol,
) -> tuple[list[CandidateCheck], list[Finding]]:
    """On a GPU the smallest case of every candidate that was found right, under compute-sanitizer; and what is said of
    the original. Once where the tool is not there."""
    base = session.base
    right = {one.name for one in checked if one.verdict is Verdict.EQUIVALENT}
    ran = [case.id for case in base.cases if case.kind == "declared" and case.id in base.runs]
    if not session.on_gpu or not right or not ran:
        return checked, []
    subjects = {"original": subject} | {
        one.name: subject.with_text(one.text) for one in candidates if one.name in right and here()
    }
    smallest = min(ran, key=lambda case: (base.exchange / f"{case}.pt").stat().st_size)
    limit = numbers.isolation.run_seconds
    found = sanitize(session.workers, subjects, smallest, base.exchange, session.device, limit)
    about = found.pop("original")
    return [_with_findings(one, found.get(one.name, [])) for one in checked], about


def _with_findings(checked: CandidateCheck, found: Sequence[Finding]) -> CandidateCheck:
    verdict = join([checked.verdict, verdict_of(found, Verdict.EQUIVALENT)])
    return checked.model_copy(update={"findings": (*checked.findings, *found), "verdict": verdict})


def environment(workers: Workers, device: str) -> Environment:
    """The environment of these workers: from what they said when they started, on a GPU from the device itself."""
    ready = workers.ready()
    facts: dict[str, Any] = {
        "device": "cpu (interpreter)",
        **{key: ready[key] for key in ("torch", "triton", "python")},
    }
    if device.startswith("cuda"):
        facts = (
            workers.submit("environment", {}, folder=workers.folder("environment"), seconds=60).result().result or facts
        )
    return Environment(skel=_version(), **facts)


def _version() -> str | None:
    """The installed version of skel; None in a checkout that is not installed."""
    try:
        return importlib.metadata.version("skel-kernels")
    except importlib.metadata.PackageNotFoundError:
        return None
