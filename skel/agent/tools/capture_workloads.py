"""Tool capture_workloads."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from skel.store.schema import Record
from skel.validation.isolation import landlock

from ..errors import CallError
from ..limits import LIMITS
from ..session_type import Session
from ..tool import FilePath, Tool, Waiting, paragraphs
from ..views import JobOutput
from ..work import Work, Worked, follow

Argument = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")]


class Given(Waiting):
    """A script that launches kernels."""

    script: FilePath
    """A Python file; it runs in its own process, with the roots to read and nowhere to write."""
    arguments: Annotated[tuple[Argument, ...], Field(max_length=16)] = ()
    out: FilePath | None = None
    """The capture to write, NAME.zip; by default STEM_capture.zip beside the script."""
    values: Literal["stored", "statistics"] = "stored"
    """Keep the values of tensors, or describe them."""


class LaunchView(Record):
    """A kernel that was launched."""

    kernel: str
    grid: tuple[int, ...]
    count: int


class Result(Record):
    """What was recorded."""

    out: str | None
    status: int
    """Exit status of the script."""
    launches: tuple[LaunchView, ...]


class Output(JobOutput):
    """The job and its result."""

    result: Result | None = None


def _start(session: Session, given: Given) -> str:
    source = session.roots.read(given.script)
    if landlock.version() == 0:
        raise CallError("not_here", what="capture_workloads", why="this Linux has no Landlock to confine a script")
    out = session.roots.destination(given.out or str(source.path.with_name(f"{source.path.stem}_capture.zip")), ".zip")
    if given.out is not None and out.exists():
        raise CallError("file_exists", path=given.out)
    return session.dispatcher.submit(TOOL.name, session.roots.names, given.model_dump(exclude={"wait_seconds"}))


def _work(work: Work, given: Given) -> Worked:
    from skel.gpu import gpu_names
    from skel.validation.isolation.environment import scrubbed
    from skel.validation.protocol import Isolation

    from ..watched_run import last_of, run_watched

    source = work.roots.read(given.script)
    place = work.roots.destination(given.out or str(source.path.with_name(f"{source.path.stem}_capture.zip")), ".zip")
    folder = work.scratch / "capture"
    folder.mkdir(mode=0o755)
    request = {
        "script": str(source.path),
        "arguments": list(given.arguments),
        "values": given.values,
        "folder": str(folder),
        "roots": list(work.roots.names),
    }
    work.report("script", given.script)
    log = folder / "output.txt"
    status = run_watched(
        [sys.executable, "-P", "-m", "skel.agent.capturing", json.dumps(request)],
        scrubbed("cuda" if gpu_names() else "interpret", folder),
        log,
        Isolation(),
    )
    answer = folder / "answer.json"
    said = last_of(log)
    if status or not answer.is_file():
        raise CallError("not_here", what="capture_workloads", why=f"the recorder ended with {status}: {said}")
    answered = json.loads(answer.read_text(encoding="utf-8"))
    capture = folder / "capture.zip"
    written = None
    if answered["launches"] and capture.is_file():
        if capture.stat().st_size > LIMITS.capture_bytes:
            raise CallError("too_large", what="the capture", limit=f"{LIMITS.capture_bytes} bytes")
        work.roots.write(place, capture.read_bytes())
        written = work.roots.shown(place)
    result: dict[str, Any] = {"out": written, "status": answered["status"], "launches": answered["launches"][:50]}
    summary = (
        f"{len(answered['launches'])} kinds of launches in {written}"
        if written
        else f"no launch was recorded; the script ended with {answered['status']}: {said[-200:]}"
    )
    onward = [follow("scan_kernel", "then apply_skeleton with this workload", file=given.script)] if written else []
    return Worked(summary, result, report=answered | {"output": said}, next=onward)


TOOL = Tool(
    "capture_workloads",
    paragraphs("""Run a script and record every Triton launch it makes: shapes, dtypes, strides, grid, options and
    values. The capture is a `workload` for apply_skeleton and check_equivalence, so that a kernel is judged on what it
    is really given. The script runs confined: it reads the roots, writes nowhere, and has no network.

    A job. Next: apply_skeleton with `workload` set to the capture."""),
    Given,
    Output,
    _start,
    _work,
    reads_only=False,
)
