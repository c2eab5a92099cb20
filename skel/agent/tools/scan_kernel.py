"""Tool scan_kernel."""

from __future__ import annotations

from typing import Any

from skel.counted import counted
from skel.store.schema import Record, Refusal

from ..errors import CallError
from ..session_type import Session
from ..tool import FilePath, Identifier, Tool, Waiting, paragraphs
from ..views import JobOutput
from ..work import Work, Worked, follow


class Given(Waiting):
    """A file, and a kernel where only one is of interest."""

    file: FilePath
    kernel: Identifier | None = None


class Opportunity(Record):
    """A skeleton whose symptom the kernel shows."""

    skeleton: str
    line: int
    why: str
    applicable: bool | None
    """True, False with refusals, or None for advice, which has nothing to apply."""
    refusals: tuple[Refusal, ...] = ()


class Use(Record):
    """A skeleton that the kernel has already."""

    skeleton: str
    line: int
    why: str


class KernelView(Record):
    """What one kernel shows."""

    kernel: str
    line: int
    uses: tuple[Use, ...]
    opportunities: tuple[Opportunity, ...]


class Result(Record):
    """The kernels of the file."""

    file: str
    kernels: tuple[KernelView, ...]


class Output(JobOutput):
    """The job and its result."""

    result: Result | None = None


def _start(session: Session, given: Given) -> str:
    session.roots.read(given.file)
    return session.dispatcher.submit(TOOL.name, session.roots.names, given.model_dump(exclude={"wait_seconds"}))


def _work(work: Work, given: Given) -> Worked:
    from skel.scan import scan_files

    source = work.roots.read(given.file)
    document = scan_files([source.path])
    if document["not_read"]:
        raise CallError("unreadable_file", path=given.file, why=document["not_read"][0]["why"])
    found = [one for one in document["kernels"] if given.kernel in (None, one["kernel"])]
    if given.kernel is not None and not found:
        have = ", ".join(one["kernel"] for one in document["kernels"]) or "none"
        raise CallError("bad_input", field="kernel", why=f"the file has no kernel {given.kernel}; it has {have}")
    kernels = [_kernel(one) for one in found]
    count = sum(len(one["opportunities"]) for one in kernels)
    totals = f"{counted(len(kernels), 'kernel')}, {counted(count, 'opportunity', 'opportunities')}"
    summary = totals if kernels else "the file holds no Triton kernel"
    findings = [one for one in document["findings"] if given.kernel in (None, one["place"]["kernel"])]
    return Worked(
        summary,
        {"file": given.file, "kernels": kernels},
        findings=findings,
        next=_next(given, kernels),
        report=document,
    )


def _kernel(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "kernel": one["kernel"],
        "line": one["line"],
        "uses": [{key: use[key] for key in ("skeleton", "line", "why")} for use in one["uses"]],
        "opportunities": [
            {key: seen[key] for key in ("skeleton", "line", "why", "applicable", "refusals")}
            for seen in one["opportunities"]
        ],
    }


def _next(given: Given, kernels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rewrites that apply, then one refusal to look into; restructuring before touching up single statements."""
    applicable = [(kernel, seen) for kernel in kernels for seen in kernel["opportunities"] if seen["applicable"]]
    applicable.sort(key=lambda pair: _LOCAL.get(pair[1]["skeleton"], 0))
    calls = [
        follow("apply_skeleton", seen["why"][:200], skeleton=seen["skeleton"], file=given.file, kernel=kernel["kernel"])
        for kernel, seen in applicable[:4]
    ]
    refused = [(kernel, seen) for kernel in kernels for seen in kernel["opportunities"] if seen["applicable"] is False]
    calls += [
        follow(
            "explain",
            "it is refused: this says why",
            skeleton=seen["skeleton"],
            file=given.file,
            kernel=kernel["kernel"],
        )
        for kernel, seen in refused[:1]
    ]
    return calls


_LOCAL = {"div_to_reciprocal": 2, "exp_to_exp2": 2, "dot_tf32x3": 3, "int64_offsets": 3}
"""Rewrites of single statements, which gain least where the same work is done many times over: tried later."""


TOOL = Tool(
    "scan_kernel",
    paragraphs("""Which skeletons the Triton kernels of a file use already, and which could be applied, with the line
    and the reason for each, and the refusals where something stands against it. The file is read, never run.

    Next: `next` lists the calls to go on with, apply_skeleton for what is applicable, explain for what is refused."""),
    Given,
    Output,
    _start,
    _work,
)
