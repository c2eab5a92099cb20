"""From a skeleton and a file to a verdict: rewrite, compile the best candidates, run the best that fits, say what came.

Nothing is written here and nothing is decided here that rewriter and validation have not shown.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from skel.document import check_document, document
from skel.faults import MissingHere, WrongUse
from skel.gpu import device
from skel.store.schema import NumericsClass, Place, Purpose, Refusal, Skeleton, Verdict

if TYPE_CHECKING:
    from skel.rewriter.engine import Candidate, Candidates
    from skel.validation.bench import BenchResult
    from skel.validation.compile.report import CompileReport
    from skel.validation.protocol import Protocol
    from skel.validation.report import CheckReport

Report = Callable[[str, dict[str, Any]], None]
"""Told of every step on the way: its name (`candidates`, `compiled`, `original`, `candidate`) and figures."""
BATCH = 3
"""Candidates compiled at a time, best rank first, until one stays within the limits: with the original, two for each
of two cores."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a user asked for."""

    skeleton: Skeleton
    file: str
    """The path as the user gave it."""
    text: str
    kernel: str | None = None
    settings: dict[str, str | int | float | bool] = field(default_factory=dict)
    target: str = "sm_90"
    full: bool = False
    bench: bool = False
    state: str | None = None
    """Folder in which timing keeps what it has measured, to go on there; None forgets it."""
    workload: str | None = None
    """Path of a file with the hooks; None where they stand in the file itself."""


@dataclass(slots=True)
class Result:
    """The verdict, its document, and the rewritten text where a candidate was chosen."""

    verdict: Verdict
    document: dict[str, Any]
    text: str | None = None
    bench: BenchResult | None = None
    """What was timed, where anything was."""


@dataclass(slots=True)
class Progress:
    """What has been found out on the way to a verdict."""

    job: Job
    candidates: Candidates | None = None
    refusals: tuple[Refusal, ...] = ()
    original: CompileReport | None = None
    reports: dict[str, CompileReport] = field(default_factory=dict)
    """By candidate name."""
    chosen: Candidate | None = None
    check: CheckReport | None = None
    findings: list[Any] = field(default_factory=list)
    report: Report | None = None
    bench: BenchResult | None = None
    text: str | None = None
    """The file to be written where it is not one candidate's: variants behind a guard."""

    def end(self, verdict: Verdict) -> Result:
        """The result with everything found so far."""
        text = self.text if self.text is not None else self.chosen.text if self.chosen else None
        return Result(verdict, document(self, verdict), text, self.bench)


def apply(job: Job, report: Report | None = None) -> Result:
    """Apply a skeleton to a file, telling `report` how far it is.

    Raises WrongUse for a target or sidecar that is none, MissingHere without torch.
    """
    from skel.rewriter.reasons import Refuse, refusal

    protocol = _protocol(job)
    progress = Progress(job, report=report)
    if job.skeleton.is_advice:
        progress.refusals = (refusal("advice_only", skeleton=job.skeleton.name),)
        return progress.end(Verdict.NOT_APPLICABLE)
    try:
        progress.job = job = replace(job, kernel=job.kernel or _kernel_of_slice(job))
    except Refuse as refused:
        progress.refusals = refused.refusals
        return progress.end(Verdict.NOT_APPLICABLE)
    if job.bench and job.skeleton.purpose is Purpose.SPEED and device() == "cuda":
        return _time(progress, protocol)
    if rewrite(progress, wide=job.full) is None:
        return progress.end(Verdict.NOT_APPLICABLE)
    return _judge(progress, protocol)


def rewrite(progress: Progress, *, wide: bool, known: Mapping[str, int] | None = None) -> Candidates | None:
    """Makes the candidates; `known` are values of the kernel's parameters. None where it refuses: `progress` says why.

    Raises RewriterFault.
    """
    from skel.rewriter.engine import candidates
    from skel.rewriter.result import Bug, Refused

    job = progress.job
    sizes: dict[str, Any] = {} if known is None else {"known": known}
    found = candidates(job.skeleton, job.text, job.file, job.kernel, job.settings, job.target, wide=wide, **sizes)
    if isinstance(found, Bug):
        raise RewriterFault(found)
    if isinstance(found, Refused):
        progress.refusals, progress.findings = found.refusals, list(found.findings)
        return None
    progress.candidates, progress.findings = found, list(found.findings)
    if progress.report is not None:
        progress.report("candidates", {"kernel": found.kernel, "candidates": len(found.items)})
    return found


def check(
    original: str, path: str, candidate: str, candidate_path: str, workload: str | None, *, full: bool,
    report: Report | None = None,
) -> Result:
    """Compare two versions of a file, numerics only. Raises WrongUse for a sidecar that does not fit."""
    from skel.validation import check as numerics
    from skel.validation.isolation import WorkerError
    from skel.validation.subject import CandidateSource
    from skel.validation.workloads import SidecarError

    try:
        checked = numerics.check(original, [CandidateSource(candidate_path, candidate)], path, workload_file=workload,
                                 numerics_class=NumericsClass.REASSOCIATED, device=device(), full=full,
                                 progress=report)
    except SidecarError as error:
        raise WrongUse(str(error), hint="a workload is a capture, or a sidecar whose TARGET is the file") from error
    except WorkerError as error:
        raise MissingHere(str(error), hint="see `skel doctor`") from error
    return Result(checked.candidates[0].verdict, check_document(checked))


def _kernel_of_slice(job: Job) -> str | None:
    """The one kernel that a sidecar's launchers reach, where only a slice of the file is run; None for other files.

    Raises Refuse where there is no such slice, WrongUse for a sidecar that does not fit.
    """
    if job.workload is None:
        return None
    from skel.rewriter.kernel.definition import load_module
    from skel.validation.workloads import SidecarError, sliced_text, subject_of

    try:
        subject = subject_of(job.text, job.file, job.workload)
    except SidecarError as error:
        raise WrongUse(str(error), hint="a workload is a capture, or a sidecar whose TARGET is the file") from error
    if subject.slice is None:
        return None
    names = {kernel.name for kernel in load_module(sliced_text(subject), job.file).entry_kernels}
    return names.pop() if len(names) == 1 else None


class RewriterFault(Exception):
    """A fault of the rewriter, with its traceback: reported as ours, never as the user's."""

    def __init__(self, bug: Any) -> None:
        super().__init__(f"the rewriter failed while {bug.doing}")
        self.add_note(bug.traceback)


def unified_diff(before: str, after: str, path: str) -> str:
    """The difference as a patch that `patch -p1` takes."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _judge(progress: Progress, protocol: Protocol) -> Result:
    """Compile, choose, run."""
    from skel.rewriter.reasons import finding
    from skel.validation.isolation import WorkerError, Workers
    from skel.validation.workloads import SidecarError

    where = device()
    if not _can_run(progress.job):
        why = finding("no_workload", Place(file=progress.job.file), severity="warning", file=progress.job.file)
        progress.findings.append(why)
        return progress.end(Verdict.INCONCLUSIVE)
    with ExitStack() as stack:
        # Both import torch, which takes seconds: the second starts while the first one works.
        compiling = stack.enter_context(Workers("compile", protocol.isolation))
        running = stack.enter_context(Workers("cuda" if where == "cuda" else "interpret", protocol.isolation))
        try:
            _compile(progress, protocol, compiling)
            if progress.chosen is None:
                return progress.end(_why_none(progress))
            return _run(progress, protocol, running, where)
        except SidecarError as error:
            raise WrongUse(str(error), hint="a workload is a capture, or a sidecar whose TARGET is the file") from error
        except WorkerError as error:
            raise MissingHere(str(error), hint="see `skel doctor`") from error


def _can_run(job: Job) -> bool:
    """True where a workload is given, or the file's text has hooks: known before anything is started."""
    if job.workload is not None:
        return True
    names = set()
    for node in ast.parse(job.text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {n.id for n in node.targets if isinstance(n, ast.Name)}
        elif not isinstance(node, ast.Expr | ast.AnnAssign):
            return True  # defined under a branch, perhaps: the worker will tell
    return {"run", "make_inputs"} <= names or "get_inputs" in names or "*" in names


def _compile(progress: Progress, protocol: Protocol, workers: Any) -> None:
    """Compile by rank until one candidate stays within the limits; with --full all of them. Sets `chosen`."""
    from skel.validation.compile.check import compile_check
    from skel.validation.subject import CandidateSource
    from skel.validation.workloads import subject_of

    job = progress.job
    assert progress.candidates is not None
    subject = subject_of(job.text, job.file, job.workload)
    ranked = iter(by_rank(progress.candidates))
    while batch := list(islice(ranked, None if job.full else BATCH)):
        sources = [CandidateSource(one.name, one.text, one.settings) for one in batch]
        original, reports = compile_check(subject, sources, target=job.target, protocol=protocol, workers=workers,
                                          progress=progress.report)
        progress.original = progress.original or original
        progress.reports |= {one.name: report for one, report in zip(batch, reports, strict=True)}
        progress.chosen = next((one for one in batch if progress.reports[one.name].within_limits), None)
        if progress.chosen is not None or not original.compiled:
            return


def _run(progress: Progress, protocol: Protocol, workers: Any, where: str) -> Result:
    """Run the chosen candidate against the original."""
    from skel.validation import check as numerics
    from skel.validation.binaries import launched
    from skel.validation.subject import CandidateSource

    job, chosen = progress.job, progress.chosen
    assert chosen is not None
    source = CandidateSource(chosen.name, progress.text or chosen.text, chosen.settings)
    progress.check = numerics.check(
        job.text, [source], job.file, workload_file=job.workload, numerics_class=chosen.numerics, device=where,
        full=job.full, reference_outranks=job.skeleton.purpose is Purpose.ACCURACY, protocol=protocol, workers=workers,
        progress=progress.report,
    )
    verdict = progress.check.candidates[0].verdict
    other = _other_binaries(progress, chosen.name, launched(progress.check.candidates[0].ran))
    return progress.end(Verdict.FAILED if other and verdict.is_success else verdict)


def _timed_binaries(result: BenchResult, name: str) -> list[dict[str, Any]]:
    """The binaries of a candidate that were timed, on all workloads."""
    rows = (row.get("candidates", {}).get(name, {}) for row in result.timing["workloads"])
    return [built for row in rows for built in row.get("built", ())]


def _other_binaries(progress: Progress, name: str, ran: Sequence[Mapping[str, Any]]) -> bool:
    """True, with a finding, where the compile check made another binary of what `ran` for the same target, options and
    specialisation. Launches that it did not compile, of other workloads, are none of its business."""
    from skel.validation.binaries import other_binaries
    from skel.validation.findings import from_fact

    compiled = [{"kernel": one.kernel, **one.identity} for one in progress.reports[name].kernels]
    facts = other_binaries(name, ran, compiled, "the compile check")
    place = Place(file=progress.job.file)
    found = [from_fact(fact, place, device()) for fact in facts if fact["severity"] == "error"]
    progress.findings += found
    return bool(found)


def _time(progress: Progress, protocol: Protocol) -> Result:
    """Time every candidate on the GPU here, choose by workload, check the file that comes of it.

    Raises MissingHere, WrongUse.
    """
    from skel.bench import guarded_text, measure_here, search_plan
    from skel.rewriter.reasons import Refuse
    from skel.validation.isolation import WorkerError, Workers
    from skel.validation.workloads import SidecarError

    try:
        plan = search_plan(progress, protocol)
        if progress.candidates is None:
            return progress.end(Verdict.NOT_APPLICABLE)
        if not plan.candidates:
            return progress.end(_why_none(progress))
        result = progress.bench = measure_here(plan, progress.job.state, progress.report)
        if not result.variants:
            return progress.end(result.verdict)
        first = next(iter(result.variants))
        progress.chosen = next(one for one in progress.candidates.items if one.name == first)
        if not result.verdict.is_success:
            return progress.end(result.verdict)
        other = [name for name in result.variants if _other_binaries(progress, name, _timed_binaries(result, name))]
        if other:
            return progress.end(Verdict.FAILED)
        try:
            progress.text, guards = guarded_text(result)
        except Refuse as refused:
            progress.refusals = refused.refusals
            return progress.end(Verdict.INCONCLUSIVE)
        progress.findings += guards
        with Workers("cuda", protocol.isolation) as running:
            checked = _run(progress, protocol, running, "cuda").verdict
        return progress.end(result.verdict if checked is Verdict.EQUIVALENT else checked)
    except SidecarError as error:
        raise WrongUse(str(error), hint="a workload is a capture, or a sidecar whose TARGET is the file") from error
    except WorkerError as error:
        raise MissingHere(str(error), hint="see `skel doctor`") from error


def _why_none(progress: Progress) -> Verdict:
    """The verdict where no candidate can be run: nothing was compiled at all, or all failed, or all were over."""
    reports = progress.reports.values()
    if progress.original is not None and not progress.original.compiled:
        return Verdict.INCONCLUSIVE
    return Verdict.OVER_LIMITS if any(report.compiled for report in reports) else Verdict.FAILED


def by_rank(found: Candidates) -> Iterator[Candidate]:
    """Best first; ties in the order of their names, so that the same inputs give the same choice."""
    return iter(sorted(found.items, key=lambda one: (one.rank, one.name)))


def _protocol(job: Job) -> Protocol:
    """The protocol with the record's limit on spills. Raises WrongUse for an unknown target."""
    from skel.validation.compile.targets import TARGETS
    from skel.validation.protocol import Protocol

    if job.target not in TARGETS:
        raise WrongUse(f"there is no target {job.target!r}", hint=f"there are {', '.join(TARGETS)}")
    spills = [
        limit.spill_bytes_per_thread
        for limit in job.skeleton.limits
        if limit.architecture in (job.target, "any") and limit.spill_bytes_per_thread is not None
    ]
    return Protocol().override({"compile.spill_bytes": min(spills)}) if spills else Protocol()
