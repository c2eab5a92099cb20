"""Making calls in tests."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skel.agent.errors import CallError
from skel.agent.roots import Roots
from skel.agent.session import Session
from skel.agent.work import Work, Worked

PATIENCE = 240.0
"""Seconds that a job may take on a busy machine."""


@dataclass(frozen=True)
class Place:
    """Where a test plays."""

    root: Path
    database: Path
    secret: Path


def quiet(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start no processes for the session's jobs."""
    monkeypatch.setattr(session.dispatcher, "look_after", lambda: None)


def call(session: Session, tool: str, **arguments: Any) -> dict[str, Any]:
    """The answer as plain JSON; a job is waited for."""
    answer = session.call(tool, arguments).model_dump(mode="json")
    end = time.monotonic() + PATIENCE
    while answer.get("state") in ("queued", "running"):
        assert time.monotonic() < end, f"no end of {answer}"
        answer = session.call("get_job", {"job": answer["job"], "wait_seconds": 20}).model_dump(mode="json")
    return answer


def code_of(session: Session, tool: str, arguments: Any) -> str:
    """The code of the error that a call ends with."""
    with pytest.raises(CallError) as raised:
        session.call(tool, arguments)
    return raised.value.code


def do(session: Session, tool: str, scratch: Path, **arguments: Any) -> Worked:
    """Do a job's work in this process, unconfined."""
    from skel.agent.registry import TOOLS

    found = TOOLS[tool]
    assert found.work is not None
    work = Work(session.database, session.roots, "job_0000000000000000", scratch, lambda step, message: None)
    return found.work(work, found.input.model_validate(arguments))


def roots_of(place: Place) -> Roots:
    """The roots of a place."""
    return Roots((place.root,))
