"""Tool add_evidence."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from skel.document import compile_evidence
from skel.store.jobs import Job, get_job
from skel.store.schema import Environment, Evidence, Finding, Record, Rerun, Verdict

from ..errors import CallError
from ..session_type import Session
from ..tool import JobId, SkeletonName, Tool, paragraphs
from ..views import Next

MEASURING = frozenset({"apply_skeleton", "check_equivalence", "benchmark"})


class Given(Record):
    """A job that measured something."""

    job: JobId
    skeleton: SkeletonName | None = None
    """The skeleton it is evidence on, where the job compared two files; else the one that was applied."""


class Answer(Record):
    """What was kept."""

    id: str
    """The hash of its content: equal evidence is kept once."""
    job: str
    skeleton: str
    level: str
    verdict: str
    reference: str
    next: tuple[Next, ...]


def _start(session: Session, given: Given) -> Answer:
    from skel.store.evidence import add_evidence
    from skel.store.records import get_skeleton

    job = get_job(session.database, given.job, session.roots.names)
    evidence = evidence_of(job, given.skeleton)
    get_skeleton(session.database, evidence.skeleton)
    key = add_evidence(session.database, evidence)
    return Answer(
        id=key,
        job=job.id,
        skeleton=evidence.skeleton,
        level=evidence.level,
        verdict=evidence.verdict.value,
        reference=f"skel://evidence/{evidence.skeleton}/{key}",
        next=(Next(tool="get_evidence", arguments={"skeleton": evidence.skeleton}, why="all that is known of it"),),
    )


def evidence_of(job: Job, skeleton: str | None) -> Evidence:
    """What a job measured, as it was measured: nothing in it comes from the caller but the skeleton's name.

    Raises CallError(job_not_done, no_evidence).
    """
    document: dict[str, Any] | None = (job.result or {}).get("report")
    if job.tool not in MEASURING:
        raise CallError("no_evidence", job=job.id, why=f"{job.tool} measures nothing")
    if job.state != "done" or document is None:
        raise CallError("job_not_done", job=job.id, state=job.state, what="report")
    applied = document["skeleton"]
    if applied is not None and skeleton not in (None, applied):
        raise CallError("no_evidence", job=job.id, why=f"it applied {applied}, not {skeleton}")
    name = applied or skeleton
    if name is None:
        raise CallError("no_evidence", job=job.id, why="it compared two files: say on which skeleton it is evidence")
    timing, numerics, compiled = document["timing"] or {}, document["numerics"], document["compile"]
    timed = bool(timing.get("timed"))
    if numerics is None and compiled is None and not timed:
        raise CallError("no_evidence", job=job.id, why=f"nothing was compiled or run ({document['verdict']})")
    chosen: dict[str, Any] = next((one for one in document["candidates"] if one["chosen"]), {})
    rows = timing["workloads"] if timed else []
    checked = numerics["candidates"][0]["workloads"] if numerics and numerics["candidates"] else []
    return Evidence(
        skeleton=name,
        kernel=document["kernel"] or "unknown",
        file=document["file"],
        source_sha256=document["source_sha256"],
        candidate_sha256=document.get("candidate_sha256"),
        settings=chosen.get("settings", {}),
        level="timing" if timed else "numerics" if numerics else "compile",
        verdict=Verdict(document["verdict"]),
        workloads=tuple(rows or checked),
        compile=compile_evidence(document),
        numerics={} if numerics is None else {k: v for k, v in numerics.items() if k != "candidates"},
        timing={key: value for key, value in timing.items() if key != "workloads"},
        findings=tuple(Finding.model_validate(one) for one in document["findings"][:40]),
        environment=Environment.model_validate(document["environment"]),
        measured_at=datetime.fromisoformat(str(job.ended_at)),
        protocol=document["protocol"],
        rerun=Rerun.model_validate(document["rerun"]) if document.get("rerun") else None,
    )


TOOL = Tool(
    "add_evidence",
    paragraphs("""Keep what a job measured, good or bad, as evidence on a skeleton, with its environment and all numbers
    of the protocol. Only what skel measured itself is evidence; the job is named, nothing else is taken from you.

    Next: get_evidence reads it back."""),
    Given,
    Answer,
    _start,
    reads_only=False,
)
