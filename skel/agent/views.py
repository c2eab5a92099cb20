"""What an answer about a job looks like: a few kB, the weightiest first, the rest by reference."""

from __future__ import annotations

import json
from typing import Any, Literal

from skel.store.jobs import Job, State
from skel.store.schema import Finding, Record, Refusal
from skel.told import told_once

from .limits import LIMITS

_LONGEST = 400
_MOST = 12


class Step(Record):
    """How far a job is."""

    step: str
    done: int
    """Steps done; their number is not known beforehand."""
    message: str


class Error(Record):
    """Why a job has no result."""

    code: str
    message: str
    hint: str


class Next(Record):
    """A call that would go on from here."""

    tool: str
    arguments: dict[str, Any]
    why: str


class JobOutput(Record):
    """A job; tools add the `result` that it has once it is done."""

    job: str
    """Its handle: get_job answers for it, also after a restart."""
    tool: str
    state: State
    """`queued` and `running` have no result yet."""
    progress: Step | None = None
    summary: str
    """In one sentence."""
    verdict: str | None = None
    """Where something was applied, compared or timed."""
    refusals: tuple[Refusal, ...] = ()
    """Why it does not apply, the weightiest first."""
    findings: tuple[Finding, ...] = ()
    """Errors first. All of them stand in the part `report`."""
    left_out: int = 0
    """Findings and refusals that are not shown here."""
    error: Error | None = None
    next: tuple[Next, ...] = ()
    """What to try next, the most promising first."""
    parts: tuple[Literal["report", "diff", "text"], ...] = ()
    """What get_job has in full, and the resources skel://jobs/JOB/PART."""


def job_output(job: Job) -> dict[str, Any]:
    """The answer about a job in plain JSON types, at most `LIMITS.view_bytes` of them."""
    stored = job.result or {}
    findings = told_once(stored.get("findings", ()))
    hidden = len(stored.get("findings", ())) - len(findings)
    refusals = list(stored.get("refusals", ()))
    answer: dict[str, Any] = {
        "job": job.id,
        "tool": job.tool,
        "state": job.state,
        "progress": job.progress,
        "summary": _summary(job),
        "verdict": stored.get("verdict"),
        "refusals": [_short(one) for one in refusals[:_MOST]],
        "findings": [_short(one) for one in findings[:_MOST]],
        "left_out": 0,
        "result": _short(stored.get("result"), most=24),
        "error": _error(job),
        "next": [{**one, "why": one["why"][:200]} for one in stored.get("next") or _next(job)],
        "parts": list(stored.get("parts", ())),
    }
    while size_of(answer) > LIMITS.view_bytes and _drop_one(answer):
        pass
    shown = len(answer["findings"]) + len(answer["refusals"])
    answer["left_out"] = hidden + len(findings) + len(refusals) - shown
    return answer


def size_of(answer: Any) -> int:
    """Bytes of the answer as JSON."""
    return len(json.dumps(answer, ensure_ascii=False).encode())


def _summary(job: Job) -> str:
    if job.result is not None:
        return str(job.result["summary"])[:_LONGEST]
    said = {
        "queued": "it waits for the jobs before it",
        "running": "it is being worked on",
        "cancelled": "it was cancelled",
        "failed": "it failed",
    }
    return said.get(job.state, job.state)


def _error(job: Job) -> dict[str, Any] | None:
    from .errors import CallError

    if job.error is None:
        return None
    said = job.error if "message" in job.error else CallError(job.error["code"]).to_dict()
    return {key: said[key] for key in ("code", "message", "hint")}


def _next(job: Job) -> list[dict[str, Any]]:
    if job.is_active:
        arguments = {"job": job.id, "wait_seconds": 30}
        return [{"tool": "get_job", "arguments": arguments, "why": "the result is not there yet"}]
    return []


def _short(value: Any, most: int = _MOST) -> Any:
    """Long texts and lists cut off, empty fields of findings left out."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[: _LONGEST - 4] + " ..."
    if isinstance(value, dict):
        return {key: _short(entry, most) for key, entry in value.items() if key != "traceback"}
    if isinstance(value, list):
        return [_short(entry, most) for entry in value[:most]]
    return value


def _drop_one(answer: dict[str, Any]) -> bool:
    """Leave out what is worth least; False where there is nothing left to leave out."""
    for key in ("findings", "refusals"):
        if len(answer[key]) > 3:
            answer[key].pop()
            return True
    lists = [entry for entry in (answer["result"] or {}).values() if isinstance(entry, list) and len(entry) > 1]
    if lists:
        max(lists, key=size_of).pop()
        return True
    for one in answer["findings"]:
        if one.get("data"):
            one["data"] = {}
            return True
    for key in ("next", "refusals", "findings"):
        if len(answer[key]) > 1:
            answer[key].pop()
            return True
    if answer["result"] and (
        filled := [key for key, entry in answer["result"].items() if isinstance(entry, list) and entry]
    ):
        answer["result"][filled[0]] = []
        return True
    return False
