"""Tool benchmark."""

from __future__ import annotations

from typing import Any

from skel.store.schema import Record, Verdict

from ..errors import CallError
from ..session_type import Session
from ..tool import FilePath, Identifier, Tool, Waiting, paragraphs
from ..views import JobOutput
from ..work import Work, Worked, dump, follow
from .check_equivalence import identity


class Given(Waiting):
    """Two versions of a file."""

    original: FilePath
    candidate: FilePath
    workload: FilePath | None = None
    kernel: Identifier | None = None
    """The kernel that is timed; else all that are launched."""


class Row(Record):
    """One workload."""

    label: str
    ratio: Any = None
    """Original over candidate in time, with its interval: above 1 is faster. Absent where it was not timed."""


class Result(Record):
    """What was timed; the part `report` has every figure."""

    original: str
    candidate: str
    timed: bool
    workloads: tuple[Row, ...]


class Output(JobOutput):
    """The job and its result."""

    result: Result | None = None


def _start(session: Session, given: Given) -> str:
    session.roots.read(given.original)
    session.roots.read(given.candidate)
    if given.workload is not None:
        session.roots.file(given.workload)
    _require_gpu()
    return session.dispatcher.submit(TOOL.name, session.roots.names, given.model_dump(exclude={"wait_seconds"}))


def _require_gpu() -> None:
    """Raises CallError(not_here)."""
    from skel.gpu import gpu_names

    if not gpu_names():
        raise CallError("not_here", what="benchmark", why="there is no GPU; check_equivalence and compiling need none")


def _work(work: Work, given: Given) -> Worked:
    from skel.apply import unified_diff
    from skel.bench import bench_document, measure_here, pair_plan
    from skel.validation.protocol import Protocol

    _require_gpu()
    original, candidate = work.roots.read(given.original), work.roots.read(given.candidate)
    file, other = work.roots.shown(original.path), work.roots.shown(candidate.path)
    workload = None if given.workload is None else str(work.roots.file(given.workload))
    work.report("timing", f"{other} against {file}")
    plan = pair_plan(original.text, file, candidate.text, other, workload, given.kernel, Protocol())
    result = measure_here(plan, None, work.step)
    document = bench_document(result)
    document |= identity(original, candidate) | ({"kernel": document["kernel"]} if document["kernel"] else {})
    if result.verdict is Verdict.SLOWER:
        document["findings"] += _what_changed(work, (original.text, file), (candidate.text, other), workload, document)
    timing = document["timing"]
    rows = [
        {"label": row["label"], "ratio": row.get("candidates", {}).get(other, {}).get("ratio")}
        for row in timing["workloads"]
    ]
    view = {"original": file, "candidate": other, "timed": bool(timing["timed"]), "workloads": rows}
    return Worked(
        result.verdict.value,
        view,
        verdict=result.verdict.value,
        findings=document["findings"],
        report=document,
        diff=unified_diff(original.text, candidate.text, file),
        next=[follow("add_evidence", "keep what was measured; say on which skeleton", job=work.job)],
    )


def _what_changed(
    work: Work, original: tuple[str, str], candidate: tuple[str, str], workload: str | None, document: dict[str, Any]
) -> list[dict[str, Any]]:
    """Why it may be slower: figures of both, compiled for this GPU. Nothing where they cannot be had."""
    from skel.gpu import architecture
    from skel.validation.compile.targets import TARGETS
    from skel.validation.isolation import WorkerError

    from ..feedback.compiled import compiled_pair
    from ..feedback.figures import figures_changed

    target = architecture()
    if target not in TARGETS:
        return []
    try:
        document["compile"] = compiled_pair(*original, *candidate, workload, target, work.step)
    except WorkerError:
        return []
    changed = figures_changed(document["compile"], candidate[1], document["kernel"], original[1], slower=True)
    return dump([changed] if changed else [])


TOOL = Tool(
    "benchmark",
    paragraphs("""Compare two versions of a file as check_equivalence does, then time their kernels against each other
    on this machine's GPU: interleaved, with a cold and a warm L2, original against original as control. One at a time.

    A job of minutes. `slower` names what changed in the compiled kernel. Without a GPU the answer is the error
    `not_here`.

    Next: add_evidence, whatever the verdict."""),
    Given,
    Output,
    _start,
    _work,
)
