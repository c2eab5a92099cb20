"""Tool search_skeletons."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from skel.store.schema import Record

from ..session_type import Session
from ..tool import Tool, paragraphs


class Given(Record):
    """A question."""

    query: Annotated[str, StringConstraints(min_length=1, max_length=4000)]
    """What you see: a symptom, a technique, profiler output or code; English or Chinese."""
    limit: Annotated[int, Field(ge=1, le=20)] = 5


class Hit(Record):
    """A skeleton that answers."""

    name: str
    score: float
    """In [0, 1], comparable within one answer."""
    title: str
    kind: str
    why: str
    """Which symptom or field matched."""


class Answer(Record):
    """What was found, best first; empty where nothing answers the query."""

    query: str
    hits: tuple[Hit, ...]


def _start(session: Session, given: Given) -> Answer:
    from skel.store.search import search

    hits = search(session.database, given.query, given.limit)
    found = tuple(Hit(name=h.name, score=h.score, title=h.title, kind=h.kind, why=h.why[:400]) for h in hits)
    return Answer(query=given.query[:200], hits=found)


TOOL = Tool(
    "search_skeletons",
    paragraphs("""Find optimization skeletons by what you see: a symptom in your own words, a technique, profiler
    output or a piece of code. No hits means that nothing known answers it.

    Next: get_skeleton for one of them, or scan_kernel to see which apply to a file."""),
    Given,
    Answer,
    _start,
)
