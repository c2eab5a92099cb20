"""Tool get_evidence."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from skel.store.schema import Record

from ..session_type import Session
from ..tool import SkeletonName, Tool, paragraphs


class Given(Record):
    """On which skeleton."""

    skeleton: SkeletonName
    limit: Annotated[int, Field(ge=1, le=20)] = 8


class Item(Record):
    """One piece of evidence, shortened; skel://evidence/SKELETON/ID has all of it."""

    id: str
    kernel: str
    file: str
    level: str
    verdict: str
    settings: dict[str, object]
    device: str
    measured_at: str
    findings: tuple[str, ...]
    """Codes."""


class Answer(Record):
    """What was measured here, newest first, good and bad."""

    skeleton: str
    total: int
    evidence: tuple[Item, ...]


def _start(session: Session, given: Given) -> Answer:
    from skel.store.evidence import evidence_for, evidence_id
    from skel.store.records import get_skeleton

    get_skeleton(session.database, given.skeleton)
    found = evidence_for(session.database, given.skeleton)
    shown = [
        Item(
            id=evidence_id(one),
            kernel=one.kernel,
            file=one.file[-200:],
            level=one.level,
            verdict=one.verdict.value,
            settings=dict(one.settings),
            device=one.environment.device,
            measured_at=one.measured_at.isoformat(),
            findings=tuple(dict.fromkeys(finding.code for finding in one.findings)),
        )
        for one in reversed(found[-given.limit :])
    ]
    return Answer(skeleton=given.skeleton, total=len(found), evidence=tuple(shown))


TOOL = Tool(
    "get_evidence",
    paragraphs("""What was measured of a skeleton on this database, losing measurements too: kernel, settings, verdict
    and environment of each.

    Next: apply_skeleton with `settings` that won; the whole of one is the resource skel://evidence/SKELETON/ID."""),
    Given,
    Answer,
    _start,
)
