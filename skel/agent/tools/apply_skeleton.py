"""Tool apply_skeleton."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints

from skel.store.schema import Record, Rerun, Skeleton, Verdict

from ..errors import CallError
from ..session_type import Session
from ..tool import FilePath, Identifier, Settings, SkeletonName, Tool, Waiting, paragraphs
from ..views import JobOutput
from ..work import Work, Worked, follow

if TYPE_CHECKING:
    from skel.apply import Job

Target = Annotated[str, StringConstraints(pattern=r"^(sm_[0-9]{2,3}|gfx[0-9a-f]{3,4})$")]


class Given(Waiting):
    """A skeleton, a kernel, and where the result goes."""

    skeleton: SkeletonName
    file: FilePath
    """It offers run() and make_inputs(), or `workload` does; without either the result stops at the compile check."""
    kernel: Identifier | None = None
    """Needed where the file has several and the first one that fits is not meant."""
    out: FilePath | None = None
    """Where the rewritten file goes; by default STEM_SKELETON.py beside the file. Written only where the verdict is
    good."""
    settings: Settings = Field(default_factory=dict)
    """Decisions to pin, by name; get_skeleton lists them."""
    workload: FilePath | None = None
    """A file with the hooks, or a capture."""
    target: Target = "sm_90"
    """The architecture to compile for."""
    full: bool = False
    """Every candidate and the full protocol: minutes instead of seconds."""


class CandidateView(Record):
    """One way in which it was applied."""

    name: str
    settings: dict[str, Any]
    verdict: str | None
    """Absent where it was not tried."""
    chosen: bool
    registers: int | None
    spill_bytes: int | None
    shared_memory_bytes: int | None
    programs: int | None


class Result(Record):
    """What was tried and what was chosen."""

    skeleton: str
    file: str
    kernel: str | None
    out: str | None
    """The file that was written."""
    candidates: tuple[CandidateView, ...]
    """Best rank first."""
    timed: bool
    why_not_timed: str | None


class Output(JobOutput):
    """The job and its result."""

    result: Result | None = None


def _start(session: Session, given: Given) -> str:
    from skel.store.records import get_skeleton

    get_skeleton(session.database, given.skeleton)
    source = session.roots.read(given.file)
    if given.workload is not None:
        session.roots.file(given.workload)
    if given.out is not None:
        out = session.roots.destination(given.out)
        if out.exists() or out.is_symlink():
            raise CallError("file_exists", path=given.out)
    else:
        session.roots.destination(str(source.path.with_name(_default_name(source.path.stem, given.skeleton))))
    return session.dispatcher.submit(TOOL.name, session.roots.names, given.model_dump(exclude={"wait_seconds"}))


def _default_name(stem: str, skeleton: str) -> str:
    return f"{stem}_{skeleton}.py"


def _rerun(job: Job) -> Rerun:
    """What running it again will need: kept with the evidence."""
    from skel.validation.subject import Sidecar, Subject
    from skel.validation.workloads.naming import name_of_file, rerun_of

    name = name_of_file(Subject(job.text, job.file, "target"))
    hooks = Path(job.workload).read_text(encoding="utf-8") if job.workload is not None else ""
    sidecar = Sidecar(job.workload, hooks) if job.workload is not None else None
    return rerun_of(name, sidecar, job.settings)


def _work(work: Work, given: Given) -> Worked:
    from skel.apply import Job, apply, unified_diff
    from skel.store.records import get_skeleton
    from skel.validation.protocol import Protocol
    from skel.validation.subject import sha256

    from ..feedback.after import after_apply

    source = work.roots.read(given.file)
    shown = work.roots.shown(source.path)
    job = Job(
        skeleton=get_skeleton(work.database, given.skeleton),
        file=shown,
        text=source.text,
        kernel=given.kernel,
        settings=dict(given.settings),
        target=given.target,
        full=given.full,
        bench=True,
        workload=None if given.workload is None else str(work.roots.file(given.workload)),
    )
    result = apply(job, work.step)
    document = result.document
    document["findings"] += after_apply(job, result.text, document, work.step)
    written: str | None = None
    if result.verdict.is_success and result.text is not None:
        place = work.roots.destination(
            given.out or str(source.path.with_name(_default_name(source.path.stem, given.skeleton)))
        )
        if given.out is not None and place.exists():
            raise CallError("file_exists", path=given.out)
        work.roots.write(place, result.text.encode(source.encoding))
        written = document["out"] = work.roots.shown(place)
    document |= {
        "source_sha256": source.sha256,
        "protocol": Protocol().to_dict(),
        "rerun": _rerun(job).model_dump(mode="json"),
    }
    if result.text is not None:
        document["candidate_sha256"] = sha256(result.text)
    view = {
        "skeleton": given.skeleton,
        "file": shown,
        "kernel": document["kernel"],
        "out": written,
        "candidates": [_candidate(one) for one in document["candidates"]],
        "timed": bool(document["timing"]["timed"]),
        "why_not_timed": document["timing"].get("why"),
    }
    return Worked(
        summary=_summary(given.skeleton, document, written),
        result=view,
        verdict=result.verdict.value,
        refusals=document["refusals"],
        findings=document["findings"],
        report=document,
        text=result.text,
        diff=None if result.text is None else unified_diff(source.text, result.text, shown),
        next=_next(work, given, job.skeleton, result.verdict, document, written),
    )


def _candidate(one: dict[str, Any]) -> dict[str, Any]:
    keys = ("name", "settings", "verdict", "chosen", "registers", "spill_bytes", "shared_memory_bytes", "programs")
    return {key: one[key] for key in keys}


def _summary(skeleton: str, document: dict[str, Any], written: str | None) -> str:
    verdict = document["verdict"]
    if document["refusals"]:
        return f"{verdict}: {document['refusals'][0]['message']}"
    where = f"; written to {written}" if written else "; nothing was written"
    timed = "" if document["timing"]["timed"] else ", not timed"
    return f"{verdict}{timed}: {skeleton} on {document['kernel']}{where}"


def _next(
    work: Work, given: Given, skeleton: Skeleton, verdict: Verdict, document: dict[str, Any], written: str | None
) -> list[dict[str, Any]]:
    """Where to go from this verdict: on with the result, to another candidate, or to another skeleton."""
    if written is not None:
        calls = [follow("add_evidence", "keep what was measured", job=work.job)]
        if not document["timing"]["timed"]:
            arguments = {"original": given.file, "candidate": written, "workload": given.workload}
            calls.append(follow("benchmark", "it was not timed", **{k: v for k, v in arguments.items() if v}))
        calls.append(follow("scan_kernel", "what else applies to the result", file=written))
        return calls
    if document["timing"]["timed"]:  # every candidate was timed: none of them is left to be tried
        why = f"it competes with {given.skeleton}"
        return [
            follow("add_evidence", "keep it: a loss is worth knowing too", job=work.job),
            *(follow("explain", why, skeleton=one, file=given.file) for one in skeleton.interactions.competes_with[:2]),
            follow("scan_kernel", "what else applies", file=given.file),
            follow("get_job", "every candidate and its times", job=work.job, part="report"),
        ]
    if verdict is Verdict.NOT_APPLICABLE:
        codes = {one["code"] for one in document["refusals"]}
        if about := "; ".join(why for code, why in _ABOUT_THE_RECORD.items() if code in codes):
            return [
                follow("get_skeleton", about, name=given.skeleton),
                follow("scan_kernel", "what applies instead", file=given.file),
            ]
        others = skeleton.interactions.competes_with[:2]
        return [
            follow("explain", f"it competes with {given.skeleton}", skeleton=name, file=given.file) for name in others
        ] + [follow("scan_kernel", "what applies instead", file=given.file)]
    tried = {one["name"] for one in document["candidates"] if one["verdict"] is not None}
    untried = [one for one in document["candidates"] if one["name"] not in tried]
    kernel = {"kernel": document["kernel"]} if document["kernel"] else {}
    return [
        follow(
            "apply_skeleton",
            "the next candidate by rank",
            skeleton=given.skeleton,
            file=given.file,
            settings=one["settings"],
            **kernel,
        )
        for one in untried[:2]
    ] + [follow("get_job", "the whole report", job=work.job, part="report")]


_ABOUT_THE_RECORD = {
    "advice_only": "it is advice: do by hand what it describes, then check_equivalence",
    "no_such_option": "it lists under `decisions` what `settings` may pin",
}
"""Refusals that are answered by the record and not by the kernel."""


TOOL = Tool(
    "apply_skeleton",
    paragraphs("""Rewrite a kernel by a skeleton: candidates are made, the best by rank compiled, the chosen one run
    against the original in an isolated worker and compared, timed where there is a GPU. The rewritten file is written
    where the verdict is good (faster, neutral, improved, equivalent, compiled), whole or not at all; FILE stays.

    A job: the answer is a handle when it takes longer than wait_seconds. Verdicts: `equivalent` is right and not timed;
    `wrong` names the element, the program and the step; `not_applicable` has refusals; `slower` says what changed.

    Next: `next` lists the calls to go on with."""),
    Given,
    Output,
    _start,
    _work,
    reads_only=False,
)
