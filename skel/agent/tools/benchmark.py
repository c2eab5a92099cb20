"""Tool benchmark."""

from __future__ import annotations

from typing import Any

from skel.store.schema import Record

from ..errors import CallError
from ..session_type import Session
from ..tool import FilePath, Tool, Waiting, paragraphs
from ..views import JobOutput
from ..work import Work, Worked
from .check_equivalence import identity


class Given(Waiting):
    """Two versions of a file."""

    original: FilePath
    candidate: FilePath
    workload: FilePath | None = None
    full: bool = False
    """More seeds, values and shapes in the comparison before the timing."""


class Result(Record):
    """What was timed."""

    original: str
    candidate: str
    timing: dict[str, Any]


class Output(JobOutput):
    """The job and its result."""

    result: Result | None = None


def _start(session: Session, given: Given) -> str:
    session.roots.read(given.original)
    session.roots.read(given.candidate)
    if given.workload is not None:
        session.roots.file(given.workload)
    _bench()
    return session.dispatcher.submit(TOOL.name, session.roots.names, given.model_dump(exclude={"wait_seconds"}))


def _bench() -> Any:
    """The function that compares and times. Raises CallError(not_here) without a GPU."""
    from skel import apply
    from skel.gpu import gpu_names

    if not gpu_names():
        raise CallError("not_here", what="benchmark", why="there is no GPU; check_equivalence and compiling need none")
    bench = getattr(apply, "bench", None)
    if bench is None:
        raise CallError("not_here", what="benchmark", why="this version does not time")
    return bench


def _work(work: Work, given: Given) -> Worked:
    from skel.apply import unified_diff

    original, candidate = work.roots.read(given.original), work.roots.read(given.candidate)
    file, other = work.roots.shown(original.path), work.roots.shown(candidate.path)
    workload = None if given.workload is None else str(work.roots.file(given.workload))
    result = _bench()(original.text, file, candidate.text, other, workload, full=given.full, report=work.step)
    document = result.document | identity(original, candidate)
    view = {"original": file, "candidate": other, "timing": document["timing"] or {}}
    return Worked(
        result.verdict.value,
        view,
        verdict=result.verdict.value,
        findings=document["findings"],
        report=document,
        diff=unified_diff(original.text, candidate.text, file),
    )


TOOL = Tool(
    "benchmark",
    paragraphs("""Compare two versions of a file as check_equivalence does, then time their kernels against each other
    on this machine's GPU: interleaved, with a cold and a warm L2, original against original as control. One at a time.

    A job of minutes. Without a GPU the answer is the error `not_here`."""),
    Given,
    Output,
    _start,
    _work,
)
