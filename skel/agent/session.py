"""The one door to the tools: arguments are checked, the call is made, what came of it is logged.

Nothing of a call's text is ever evaluated, and no exception leaves this module but CallError.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from skel.store.errors import StoreError, UnknownSkeleton
from skel.store.jobs import Job, UnknownJob, get_job
from skel.store.schema import Record

from .errors import CallError
from .jobs import Dispatcher
from .limits import LIMITS, pause_after
from .registry import TOOLS
from .roots import Roots
from .tool import Tool
from .views import job_output

if TYPE_CHECKING:
    from skel.store.database import Database


@dataclass(slots=True)
class Call:
    """A call that has been started: its answer, or the job that will have it."""

    name: str
    arguments: Any
    tool: Tool | None = None
    answer: Record | None = None
    job: str | None = None
    wait_until: float = 0.0
    begun: float = 0.0


class Session:
    """Tools on one database and some roots. May be used from several threads."""

    def __init__(self, database: Database, roots: Roots) -> None:
        self.database = database
        self.roots = roots
        self.dispatcher = Dispatcher(database)

    def call(self, name: str, arguments: Any, report: Callable[[Job], None] | None = None) -> Record:
        """Make a call and wait as long as it says. Raises CallError."""
        call = self.begin(name, arguments)
        try:
            while (job := self.pending(call)) is not None:
                if report is not None:
                    report(job)
                time.sleep(pause_after(time.monotonic() - call.begun))
            return self.finish(call)
        except Exception as error:
            raise self.failed(call, error) from error

    def begin(self, name: str, arguments: Any) -> Call:
        """Check the arguments and start the call. Raises CallError."""
        call = Call(name, arguments, begun=time.monotonic())
        try:
            self._check_size(arguments)
            tool = call.tool = TOOLS.get(name)
            if tool is None:
                raise CallError("unknown_tool", tool=name[:80], have=", ".join(TOOLS))
            given = tool.input.model_validate(arguments)
            started = tool.start(self, given)
            if isinstance(started, str):
                call.job = started
                call.wait_until = call.begun + given.model_dump().get("wait_seconds", 0.0)
            else:
                call.answer = started
                call.job = getattr(started, "job", None)
            return call
        except Exception as error:
            raise self.failed(call, error) from error

    def pending(self, call: Call) -> Job | None:
        """The job that a call still waits for; None where it is time to answer."""
        if call.answer is not None or call.job is None or time.monotonic() >= call.wait_until:
            return None
        self.dispatcher.look_after()
        job = get_job(self.database, call.job, self.roots.names)
        return job if job.is_active else None

    def finish(self, call: Call) -> Record:
        """The answer to a call, logged."""
        tool = call.tool
        assert tool is not None
        answer = call.answer
        if answer is None:
            answer = tool.output.model_validate(job_output(get_job(self.database, call.job, self.roots.names)))
        self._log(call, "ok")
        return answer

    def failed(self, call: Call, error: Exception) -> CallError:
        """The error that ends a call, logged. Faults of ours keep their text to themselves: the log has it."""
        known = as_call_error(error, call.name)
        detail = known.code if known.code != "internal_error" else f"internal_error: {type(error).__name__}: {error}"
        if not getattr(known, "logged", False):
            self._log(call, detail[:500])
            known.logged = True  # type: ignore[attr-defined]
        return known

    def _log(self, call: Call, outcome: str) -> None:
        from skel.store.calls import log_call

        try:
            seconds = time.monotonic() - call.begun
            log_call(self.database, os.getpid(), str(call.name), call.arguments, outcome, call.job, seconds)
        except StoreError as error:
            raise CallError("store_unavailable", message=str(error)) from error

    @staticmethod
    def _check_size(arguments: Any) -> None:
        try:
            size = len(json.dumps(arguments))
        except (RecursionError, ValueError, TypeError) as error:
            raise CallError("bad_input", field="arguments", why="they are no plain JSON") from error
        if size > LIMITS.argument_bytes:
            raise CallError("too_large", what="the call", limit=f"{LIMITS.argument_bytes} bytes")


def as_call_error(error: Exception, tool: str) -> CallError:
    """The error of the table that `error` stands for."""
    from skel.faults import Fault
    from skel.rewriter.reasons import Refuse

    if isinstance(error, CallError):
        return error
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "arguments"
        why = "it is no JSON object" if first["type"] == "model_type" else first["msg"]
        return CallError("bad_input", field=field[:200], why=why[:300])
    if isinstance(error, UnknownSkeleton):
        return CallError("unknown_skeleton", message=str(error)[:300])
    if isinstance(error, UnknownJob):
        return CallError("unknown_job", job=str(error)[:80])
    if isinstance(error, StoreError):
        return CallError("store_unavailable", message=str(error)[:500])
    if isinstance(error, Refuse):
        return CallError("bad_input", field="workload", why=str(error)[:500])
    if isinstance(error, Fault):
        return CallError(
            "not_here" if error.status == 4 else "bad_input",
            **(
                {"what": tool, "why": error.what[:500]}
                if error.status == 4
                else {"field": "arguments", "why": error.what[:500]}
            ),
        )
    return CallError("internal_error", tool=tool[:80], kind=type(error).__name__)


def open_session(url: str | None, roots: tuple[Path, ...]) -> Session:
    """A session on the database at `url`. Raises StoreError, OSError for a root that is no folder."""
    from skel.store.database import open_database

    return Session(open_database(url), Roots(roots))
