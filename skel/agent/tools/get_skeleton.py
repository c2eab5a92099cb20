"""Tool get_skeleton."""

from __future__ import annotations

from skel.store.schema import Claim, Decision, Interactions, Limit, Numerics, Record, Step

from ..session_type import Session
from ..tool import SkeletonName, Tool, paragraphs
from ..views import Next


class Given(Record):
    """Which one."""

    name: SkeletonName


class Answer(Record):
    """A skeleton, shortened; the whole record is the resource `reference`."""

    name: str
    title: str
    summary: str
    kind: str
    purpose: str
    is_advice: bool
    """True where there is nothing to apply: read it and do it by hand."""
    symptoms: tuple[str, ...]
    applies_if: tuple[str, ...]
    schedule: tuple[Step, ...]
    decisions: tuple[Decision, ...]
    """What `settings` of apply_skeleton may pin."""
    limits: tuple[Limit, ...]
    numerics: Numerics
    interactions: Interactions
    claims: tuple[Claim, ...]
    """What sources say of it, good and bad: hypotheses until measured here."""
    left_out: int
    """Symptoms and claims that are not shown here."""
    measured: int
    """Pieces of evidence measured here: get_evidence has them."""
    reference: str
    next: tuple[Next, ...]


def _start(session: Session, given: Given) -> Answer:
    from skel.store.evidence import evidence_for
    from skel.store.records import get_skeleton

    found = get_skeleton(session.database, given.name)
    symptoms, claims = found.symptoms.en[:4], found.evidence[:4]
    measured = len(evidence_for(session.database, given.name))
    onward = Next(tool="get_evidence", arguments={"skeleton": found.name}, why="what it was worth, measured")
    return Answer(
        name=found.name,
        title=found.title,
        summary=found.summary,
        kind=found.kind.value,
        purpose=found.purpose.value,
        is_advice=found.is_advice,
        symptoms=symptoms,
        applies_if=found.applies_if[:8],
        schedule=found.schedule,
        decisions=found.decisions,
        limits=found.limits[:4],
        numerics=found.numerics,
        interactions=found.interactions,
        claims=claims,
        left_out=len(found.symptoms.en) - len(symptoms) + len(found.evidence) - len(claims),
        measured=measured,
        reference=f"skel://skeletons/{found.name}",
        next=(onward,) if measured else (),
    )


TOOL = Tool(
    "get_skeleton",
    paragraphs("""One skeleton: what it changes and why, when it is legal, what it may cost in registers and accuracy,
    which decisions can be pinned, and what was claimed and measured of it.

    Next: explain with your file says whether and why it applies, apply_skeleton does it. Advice (`is_advice`) has
    nothing to apply: change the kernel by hand, then check_equivalence."""),
    Given,
    Answer,
    _start,
)
