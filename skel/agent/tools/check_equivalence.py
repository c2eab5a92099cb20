"""Tool check_equivalence."""

from __future__ import annotations

from typing import Any

from skel.store.schema import Record, Verdict
from skel.told import told_once

from ..roots import Source
from ..session_type import Session
from ..tool import FilePath, Tool, Waiting, paragraphs
from ..views import JobOutput
from ..work import Work, Worked, follow


class Given(Waiting):
    """Two versions of a file."""

    original: FilePath
    """It offers run() and make_inputs(), or `workload` does."""
    candidate: FilePath
    workload: FilePath | None = None
    """A file with the hooks, or a capture."""
    full: bool = False
    """More seeds, values and shapes."""


class WorkloadView(Record):
    """One workload."""

    label: str
    verdict: str
    cases_passed: int
    cases_wrong: int


class Result(Record):
    """What was compared."""

    original: str
    candidate: str
    device: str
    has_reference: bool
    """Whether a float64 reference was there; else only the original is."""
    workloads: tuple[WorkloadView, ...]


class Output(JobOutput):
    """The job and its result."""

    result: Result | None = None


def _start(session: Session, given: Given) -> str:
    session.roots.read(given.original)
    session.roots.read(given.candidate)
    if given.workload is not None:
        session.roots.file(given.workload)
    return session.dispatcher.submit(TOOL.name, session.roots.names, given.model_dump(exclude={"wait_seconds"}))


def _work(work: Work, given: Given) -> Worked:
    from skel.apply import check, unified_diff

    from ..feedback.after import after_check

    original, candidate = work.roots.read(given.original), work.roots.read(given.candidate)
    file, other = work.roots.shown(original.path), work.roots.shown(candidate.path)
    workload = None if given.workload is None else str(work.roots.file(given.workload))
    result = check(original.text, file, candidate.text, other, workload, full=given.full, report=work.step)
    document = result.document
    document["findings"] += after_check(
        original.text, file, candidate.text, other, workload, document, work.step
    )
    document |= identity(original, candidate)
    numerics = document["numerics"]
    workloads = numerics["candidates"][0]["workloads"] if numerics["candidates"] else []
    view = {
        "original": file,
        "candidate": other,
        "device": numerics["device"],
        "has_reference": numerics["has_reference"],
        "workloads": [
            {key: one[key] for key in ("label", "verdict", "cases_passed", "cases_wrong")} for one in workloads
        ],
    }
    errors = [one for one in told_once(document["findings"]) if one["severity"] == "error"]
    said = f": {errors[0]['message']}" if errors else ""
    same = {key: value for key, value in given.model_dump(exclude={"wait_seconds"}).items() if value}
    onward = (
        [follow("benchmark", "it is right; is it faster?", **{k: v for k, v in same.items() if k != "full"})]
        if result.verdict is Verdict.EQUIVALENT
        else [
            follow("get_job", "every finding, with its figures", job=work.job, part="report"),
            follow("check_equivalence", "once the line that the findings name is changed", **same),
        ]
    )
    return Worked(
        f"{result.verdict.value}{said}",
        view,
        verdict=result.verdict.value,
        findings=document["findings"],
        report=document,
        diff=unified_diff(original.text, candidate.text, file),
        next=onward,
    )


def identity(original: Source, candidate: Source) -> dict[str, Any]:
    """What was compared, for evidence: hashes of both files, the kernels they hold, the numbers in force."""
    from skel.rewriter.kernel.definition import load_module
    from skel.rewriter.reasons import Refuse
    from skel.validation.protocol import Protocol

    try:
        names = ", ".join(dict.fromkeys(one.name for one in load_module(original.text, "file.py").entry_kernels))
    except Refuse:
        names = ""
    return {
        "source_sha256": original.sha256,
        "candidate_sha256": candidate.sha256,
        "kernel": names or None,
        "protocol": Protocol().to_dict(),
    }


TOOL = Tool(
    "check_equivalence",
    paragraphs("""Run two versions of a file on the same inputs, each in an isolated worker, and compare what they
    compute, bit by bit or within the tolerance of reordered sums. Use it for changes made by hand.

    A job. `wrong` names the output, the first wrong element, the program and the line that wrote it, and the first
    changed place after which the result is wrong.

    Next: benchmark where it is equivalent; else change the named line and check again."""),
    Given,
    Output,
    _start,
    _work,
)
