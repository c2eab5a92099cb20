"""Tool explain."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from skel.store.schema import Record, Skeleton

from ..session_type import Session
from ..tool import FilePath, Identifier, Settings, SkeletonName, Tool, Waiting, paragraphs
from ..views import JobOutput
from ..work import Work, Worked, dump, dump_refusals, follow


class Given(Waiting):
    """A skeleton and a kernel."""

    skeleton: SkeletonName
    file: FilePath
    kernel: Identifier | None = None
    settings: Settings = Field(default_factory=dict)
    """Decisions to pin, as for apply_skeleton."""


class CandidateView(Record):
    """One way to apply it."""

    name: str
    settings: dict[str, Any]
    numerics: str
    rank: float
    """Lower is better: a static estimate."""


class Result(Record):
    """Whether it applies, why, and how."""

    skeleton: str
    kernel: str | None
    applicable: bool | None
    """None for advice, which has nothing to apply."""
    why: str
    """What in the kernel speaks for it; empty where its symptom is not seen."""
    applies_if: tuple[str, ...]
    candidates: tuple[CandidateView, ...]


class Output(JobOutput):
    """The job and its result."""

    result: Result | None = None


def _start(session: Session, given: Given) -> str:
    from skel.store.records import get_skeleton

    session.roots.read(given.file)
    get_skeleton(session.database, given.skeleton)
    return session.dispatcher.submit(TOOL.name, session.roots.names, given.model_dump(exclude={"wait_seconds"}))


def _work(work: Work, given: Given) -> Worked:
    from skel.apply import RewriterFault
    from skel.rewriter.engine import candidates
    from skel.rewriter.result import Bug, Refused
    from skel.store.records import get_skeleton

    source = work.roots.read(given.file)
    skeleton = get_skeleton(work.database, given.skeleton)
    why = _why(source.text, given)
    result: dict[str, Any] = {
        "skeleton": skeleton.name,
        "kernel": given.kernel,
        "applicable": None,
        "why": why,
        "applies_if": list(skeleton.applies_if),
        "candidates": [],
    }
    if skeleton.is_advice:
        return Worked(f"{skeleton.name} is advice: there is nothing to apply", result)
    found = candidates(skeleton, source.text, given.file, given.kernel, given.settings)
    if isinstance(found, Bug):
        raise RewriterFault(found)
    if isinstance(found, Refused):
        result["applicable"] = False
        summary = f"{skeleton.name} does not apply: {found.refusals[0].message}"
        return Worked(
            summary,
            result,
            refusals=dump_refusals(found.refusals),
            findings=dump(found.findings),
            next=_instead(skeleton, given),
        )
    ranked = sorted(found.items, key=lambda one: (one.rank, one.name))
    result |= {
        "applicable": True,
        "kernel": found.kernel,
        "candidates": [
            {"name": one.name, "settings": dict(one.settings), "numerics": one.numerics.value, "rank": one.rank}
            for one in ranked
        ],
    }
    summary = f"{skeleton.name} applies to {found.kernel} in {len(ranked)} ways"
    onward = follow("apply_skeleton", "it applies", skeleton=skeleton.name, file=given.file, kernel=found.kernel)
    return Worked(summary, result, findings=dump(found.findings), next=[onward])


def _why(text: str, given: Given) -> str:
    """What the scan of the file says of this skeleton, for this kernel or the first."""
    from skel.rewriter.engine.scan import scan

    for kernel in scan(text, given.file).kernels:
        for seen in kernel.opportunities:
            if seen.skeleton == given.skeleton and given.kernel in (None, kernel.kernel):
                return f"line {seen.line}: {seen.why}"
    return ""


def _instead(skeleton: Skeleton, given: Given) -> list[dict[str, Any]]:
    """Records for the same symptom."""
    return [
        follow(
            "explain",
            f"it competes with {skeleton.name}",
            skeleton=name,
            file=given.file,
            **({"kernel": given.kernel} if given.kernel else {}),
        )
        for name in skeleton.interactions.competes_with[:3]
    ]


TOOL = Tool(
    "explain",
    paragraphs("""Why a skeleton applies to a kernel, in which ways, or why not: every refusal with its code, the lines
    and what to do about it. Nothing is compiled or run.

    Next: apply_skeleton where it applies; a competing skeleton, or a change at the named lines, where it does not."""),
    Given,
    Output,
    _start,
    _work,
)
