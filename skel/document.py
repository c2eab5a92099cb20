"""The document of apply, check and bench: one form for all, whatever was found out before the verdict."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from skel import __version__
from skel.gpu import gpu_names
from skel.store.schema import Finding, Place, Verdict

if TYPE_CHECKING:
    from skel.apply import Job, Progress
    from skel.rewriter.engine import Candidate
    from skel.validation.bench import BenchResult
    from skel.validation.compile.report import CompileReport, KernelFigures
    from skel.validation.report import CheckReport

FIGURES = ("registers", "spill_bytes", "shared_memory_bytes", "num_warps", "programs")
"""Figures of a compiled kernel that stand in a candidate's entry; units as in the compile report."""


def document(progress: Progress, verdict: Verdict) -> dict[str, Any]:
    """The document of an application, in plain JSON types."""
    job, found = progress.job, progress.candidates
    items = sorted(found.items, key=lambda one: (one.rank, one.name)) if found else []
    return {
        "skeleton": job.skeleton.name,
        "file": job.file,
        "kernel": found.kernel if found else job.kernel,
        "verdict": verdict.value,
        "out": None,
        "refusals": [refusal.model_dump(mode="json") for refusal in progress.refusals],
        "findings": _dump(_findings(progress)),
        "candidates": [_candidate(progress, one, verdict) for one in items],
        "compile": _compile(progress),
        "numerics": progress.check.numerics() if progress.check else None,
        "timing": progress.bench.timing if progress.bench else _timing(job),
        "environment": _environment(progress.bench or progress.check),
    }


def check_document(report: CheckReport) -> dict[str, Any]:
    """The document of a comparison of two files: the same form, with nothing applied."""
    checked = report.candidates[0]
    entry: dict[str, Any] = {"name": checked.name, "settings": {}, "rank": None, "numerics": None, "chosen": True,
             "verdict": checked.verdict.value, "findings": [], **dict.fromkeys(FIGURES)}
    return {
        "skeleton": None,
        "file": report.path,
        "kernel": None,
        "verdict": checked.verdict.value,
        "out": None,
        "refusals": [],
        "findings": _dump([*report.findings, *(_in_file(one, checked.name) for one in checked.all_findings)]),
        "candidates": [entry],
        "compile": None,
        "numerics": report.numerics(),
        "timing": None,
        "environment": _environment(report),
    }


def _in_file(one: Finding, name: str) -> Finding:
    """A finding about a candidate that is a file of its own: its lines are that file's."""
    return one.model_copy(update={"place": one.place.model_copy(update={"file": name})})


def figures(report: CompileReport, kernel: str | None) -> dict[str, Any]:
    """The figures of `kernel` in a report, the largest where it was compiled in several forms; None where unknown."""
    kernels = [one for one in report.kernels if one.kernel == kernel] or list(report.kernels)
    if not kernels:
        return dict.fromkeys(FIGURES)
    worst: KernelFigures = max(kernels, key=lambda one: (one.spill_bytes, one.registers))
    return {name: getattr(worst, name) for name in FIGURES}


def compile_evidence(document: dict[str, Any]) -> dict[str, Any]:
    """The part `compile` of evidence: figures of the original and of the candidate that was chosen."""
    compiled = document["compile"]
    if compiled is None:
        return {}
    kept = {key: compiled[key] for key in ("target", "workload", "original") if key in compiled}
    chosen = next((one for one in document["candidates"] if one["chosen"]), None)
    if chosen is not None:
        kept["candidate"] = {key: chosen.get(key) for key in ("name", *FIGURES)}
    return kept


def _candidate(progress: Progress, one: Candidate, verdict: Verdict) -> dict[str, Any]:
    report = progress.reports.get(one.name)
    assert progress.candidates is not None
    return {
        "name": one.name,
        "settings": dict(one.settings),
        "rank": one.rank,
        "numerics": one.numerics.value,
        "chosen": one is progress.chosen,
        "verdict": verdict.value if one is progress.chosen else _compile_verdict(report),
        **(figures(report, progress.candidates.kernel) if report else dict.fromkeys(FIGURES)),
        "findings": _dump([*one.findings, *(report.findings if report else ())]),
    }


def _compile_verdict(report: CompileReport | None) -> str | None:
    """What the compile check alone says of a candidate; None where it was not compiled."""
    if report is None:
        return None
    if not report.compiled:
        return Verdict.FAILED.value
    return Verdict.COMPILED.value if report.within_limits else Verdict.OVER_LIMITS.value


def _findings(progress: Progress) -> list[Finding]:
    """Those of the file and of the chosen candidate; of every candidate where none was chosen."""
    found: list[Finding] = list(progress.findings)
    if progress.original is not None:
        found += progress.original.findings
    for one in progress.candidates.items if progress.candidates else ():
        if progress.chosen is None or one is progress.chosen:
            found += one.findings
            found += progress.reports[one.name].findings if one.name in progress.reports else ()
    if progress.check is not None:
        found += [*progress.check.findings, *progress.check.candidates[0].all_findings]
    if progress.bench is not None:
        found += progress.bench.findings
    if progress.job.bench and progress.check is not None and not gpu_names():
        found.append(_no_gpu(progress.job.file))
    return _once(found)


def _no_gpu(file: str) -> Finding:
    from skel.rewriter.reasons import finding

    return finding("no_gpu", Place(file=file), measured=None)


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """Each finding once: the original and its candidates often share what is said of the file."""
    kept: list[Finding] = []
    for finding in findings:
        if not any((finding.code, finding.message, finding.place) == (k.code, k.message, k.place) for k in kept):
            kept.append(finding)
    return kept


def _compile(progress: Progress) -> dict[str, Any] | None:
    if progress.original is None or progress.candidates is None:
        return None
    original = progress.original
    return {
        "target": original.target,
        "workload": original.workload,
        "original": {"name": "original", "verdict": None, **figures(original, progress.candidates.kernel)},
        "reports": [
            report.model_dump(mode="json", exclude={"findings", "seconds"})
            for report in (original, *progress.reports.values())
        ],
    }


def _timing(job: Job) -> dict[str, Any]:
    if not job.bench:
        why = "--no-bench"
    elif not gpu_names():
        why = "there is no GPU here"
    elif job.skeleton.purpose != "speed":
        why = f"the skeleton is for {job.skeleton.purpose}"
    else:
        why = "there was nothing to be timed"
    return {"timed": False, "why": why}


def _environment(report: CheckReport | BenchResult | None) -> dict[str, Any]:
    if report is not None:
        return report.environment.model_dump(mode="json")
    from skel.store.schema import Environment

    versions = {name: version_of(name) for name in ("torch", "triton")}
    made = Environment(device="none: nothing was run", python=platform.python_version(), skel=__version__, **versions)
    return made.model_dump(mode="json")


def version_of(package: str) -> str | None:
    """The installed version of a distribution; None where it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _dump(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [finding.model_dump(mode="json") for finding in findings]
