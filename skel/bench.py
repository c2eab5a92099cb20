"""Timing from the command line's side: plans made, worked off on the GPU here, and turned into results."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skel import __version__
from skel.document import FIGURES, version_of
from skel.faults import MissingHere, WrongUse
from skel.gpu import gpu_names
from skel.store.schema import NumericsClass, Verdict

if TYPE_CHECKING:
    from skel.apply import Progress
    from skel.validation.bench import BenchResult
    from skel.validation.protocol import Protocol
    from skel.validation.timing.plan import Plan

Report = Callable[[str, dict[str, Any]], None]


def require_gpu() -> None:
    """Raises MissingHere where there is no GPU."""
    if not gpu_names():
        hint = "write a plan with --plan here, work it off where there is a GPU, and read it with --plan and --state"
        raise MissingHere("there is no GPU here, and timing needs one", hint=hint)


def pair_plan(
    original: str, path: str, candidate: str, candidate_path: str, workload: str | None, kernel: str | None,
    numbers: Protocol,
) -> Plan:
    """A plan for two files. Raises WrongUse for a sidecar that does not fit."""
    from skel.validation.timing.names import RESERVED
    from skel.validation.timing.plan import Plan, PlanCandidate
    from skel.validation.workloads import SidecarError, subject_of

    try:
        subject = subject_of(original, path, workload)
    except SidecarError as error:
        raise WrongUse(str(error), hint="a workload is a capture, or a sidecar whose TARGET is the file") from error
    name = f"./{candidate_path}" if candidate_path in RESERVED else candidate_path
    return with_slices(Plan(subject, kernel, (PlanCandidate(name, candidate),), None, numbers))


def search_plan(progress: Progress, numbers: Protocol) -> Plan:
    """A plan for every candidate of a skeleton that compiles within the limits. Fills in what `progress` has of them.

    Candidates are made for the sizes that the original is launched with. Raises what compiling and rewriting raise.
    """
    from skel.apply import rewrite
    from skel.validation.isolation import Workers
    from skel.validation.timing.plan import Plan, PlanCandidate
    from skel.validation.timing.planning import compile_original, compiled_plan, known_constants
    from skel.validation.workloads import subject_of

    job = progress.job
    subject = subject_of(job.text, job.file, job.workload)
    with Workers("compile", numbers.isolation) as workers:
        progress.original = compile_original(subject, job.target, workers, numbers)
        found = rewrite(progress, wide=True, known=known_constants(progress.original, job.kernel))
        if found is None:
            return Plan(subject, job.kernel, (), job.skeleton.name, numbers)
        everyone = tuple(
            PlanCandidate(one.name, one.text, dict(one.settings), one.numerics is NumericsClass.BITWISE)
            for one in found.items
        )
        whole = Plan(subject, found.kernel, everyone, job.skeleton.name, numbers, dict(job.settings))
        plan, reports = compiled_plan(whole, job.target, workers, progress.report)
        progress.reports = {report.candidate: report for report in reports}
    return with_slices(plan)


def guarded_text(result: BenchResult) -> tuple[str, list[Any]]:
    """The file that comes of a measurement, and findings about its guard.

    One variant that is chosen on every workload is the file; else the original with variants behind a guard.
    Raises Refuse where no guard can be written.
    """
    from skel.rewriter.engine.guard import emit_guard
    from skel.rewriter.engine.guard_choices import choices_of
    from skel.rewriter.reasons import finding

    plan, variants = result.plan, result.variants
    if not result.timing["guarded"]:
        return next(iter(variants.values())), []
    assert plan.kernel is not None
    choices = choices_of(result.timing["workloads"], plan.kernel, variants)
    made = emit_guard(plan.subject.text, plan.subject.path, plan.kernel, variants, choices)
    condition = " and ".join(f"not ({text})" for text in made.conditions.values())
    return made.text, [finding("guard_emitted", condition=condition)] if condition else []


def checked_text(result: BenchResult) -> str:
    """The file that comes of a measurement, run against the original once more. Raises WrongUse where none does."""
    from skel.rewriter.reasons import Refuse
    from skel.validation import check as numerics
    from skel.validation.subject import CandidateSource

    subject = result.plan.subject
    try:
        text, _ = guarded_text(result)
    except Refuse as refused:
        raise WrongUse(refused.refusal.message, hint=refused.refusal.hint) from refused
    sidecar = subject.sidecar.path if subject.sidecar else None
    judged = [CandidateSource("the result", text)]
    checked = numerics.check(subject.text, judged, subject.path, workload_file=sidecar)
    if checked.candidates[0].verdict is not Verdict.EQUIVALENT:
        codes = dict.fromkeys(finding.code for finding in checked.candidates[0].all_findings)
        why = ", ".join(codes) or "it did not run"
        raise WrongUse(f"the result is not the original's equal here: {why}", hint="see `skel check`")
    return text


def with_slices(plan: Plan) -> Plan:
    """The plan with its slices cut: the machine that times need not be able to."""
    if plan.subject.slice is None:
        return plan
    from skel.validation.workloads import sliced_text

    subjects = [plan.subject, *(plan.subject.with_text(one.text) for one in plan.candidates)]
    ready = {subject.sha256: sliced_text(subject) for subject in subjects}
    return replace(plan, subject=replace(plan.subject, slice=replace(plan.subject.slice, ready=ready)))


def measure_here(plan: Plan, state: str | None, report: Report | None = None) -> BenchResult:
    """Works the plan off on the GPU here, going on with `state` where it is given; `report` is told what was measured.

    Raises MissingHere, WrongUse.
    """
    from skel.validation.isolation import WorkerError
    from skel.validation.timing.plan import PlanError
    from skel.validation.timing.run import work_off
    from skel.validation.timing.state import StateError

    require_gpu()
    with tempfile.TemporaryDirectory(prefix="skel-bench-") as scratch:
        folder = Path(state or scratch)
        try:
            work_off(plan, folder, say=None if report is None else lambda told: report("timing", {"done": told}))
        except WorkerError as error:
            raise MissingHere(str(error), hint="see `skel doctor`") from error
        except StateError as error:
            raise WrongUse(str(error), hint="give another --state folder") from error
        except PlanError as error:
            raise WrongUse(str(error), hint="see --number timing.timer=NAME") from error
        return result_of(plan, folder)


def result_of(plan: Plan, folder: Path) -> BenchResult:
    """What was measured so far. Raises WrongUse where there is nothing, or it is another plan's."""
    from skel.validation.bench import read_bench
    from skel.validation.timing.state import FILE, StateError

    if not (folder / FILE).is_file():
        raise WrongUse(f"nothing was measured in {folder}", hint="give the folder that was --state there")
    try:
        return read_bench(plan, folder, __version__)
    except StateError as error:
        raise WrongUse(str(error), hint="give the state that was measured for this plan") from error


def load_plan(path: str) -> Plan:
    """Raises WrongUse."""
    from skel.validation.timing.plan import PlanError, read_plan

    try:
        return read_plan(Path(path))
    except (PlanError, OSError) as error:
        raise WrongUse(f"{path}: {error}", hint="write a plan with `skel bench ... --plan PLAN`") from error


def bench_document(result: BenchResult) -> dict[str, Any]:
    """The document of a measurement: the same form as that of apply and check."""
    launched = [launch["kernel"] for row in result.timing["workloads"] for launch in row["launches"]]
    return _document(result.plan, result.verdict) | {
        "kernel": result.plan.kernel or next(iter(launched), None),
        "findings": [finding.model_dump(mode="json") for finding in result.findings],
        "candidates": [_candidate(result, name) for name in (one.name for one in result.plan.candidates)],
        "timing": result.timing,
        "environment": result.environment.model_dump(mode="json"),
    }


def plan_document(plan: Plan, path: str) -> dict[str, Any]:
    """The document of a plan that was written: nothing was run."""
    from skel.store.schema import Environment

    environment = Environment(
        device="none: nothing was run", skel=__version__, **{name: version_of(name) for name in ("torch", "triton")}
    )
    why = f"{path} holds {len(plan.candidates)} candidates to be timed where there is a GPU"
    return _document(plan, Verdict.COMPILED) | {
        "out": path,
        "timing": {"timed": False, "why": why},
        "environment": environment.model_dump(mode="json"),
    }


def _document(plan: Plan, verdict: Verdict) -> dict[str, Any]:
    return {
        "skeleton": plan.skeleton, "file": plan.subject.path, "kernel": plan.kernel, "verdict": verdict.value,
        "out": None, "refusals": [], "findings": [], "candidates": [], "compile": None, "numerics": None,
        "timing": None, "environment": {},
    }


def _candidate(result: BenchResult, name: str) -> dict[str, Any]:
    """One entry of `candidates`: the verdict is the file's for what was chosen, and absent for the rest."""
    rows = [row["candidates"][name] for row in result.timing["workloads"] if name in row.get("candidates", {})]
    chosen = name in result.timing["variants"]
    known = {key: rows[0].get(key) for key in FIGURES} if rows else dict.fromkeys(FIGURES)
    return {
        "name": name, "settings": dict(result.plan.candidate(name).settings), "rank": None, "numerics": None,
        "chosen": chosen, "verdict": result.verdict.value if chosen else None, "findings": [], **known,
    }
