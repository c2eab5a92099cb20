"""Tool search_skeletons."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from skel.store.schema import Finding, Kind, NumericsClass, Record

from ..session_type import Session
from ..tool import Tool, paragraphs
from ..views import Next


class Given(Record):
    """A question, and what a hit must be."""

    query: Annotated[str, StringConstraints(min_length=1, max_length=8000)]
    """What you see: a symptom, a technique, profiler output or code; English or Chinese."""
    limit: Annotated[int, Field(ge=1, le=20)] = 5
    kind: Kind | None = None
    architecture: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{2,12}$")] | None = None
    """What works there, for example `sm_90`."""
    numerics: NumericsClass | None = None
    """The weakest class of results that is wanted."""
    source: Annotated[str, StringConstraints(min_length=1, max_length=80)] | None = None
    """Part of the name of a repository that the technique is seen in."""
    proven: bool | None = None
    """Whether a measurement in this database found a gain."""


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
    read_as: str
    """What the query was taken for: words, code, profiler output, another language."""
    hits: tuple[Hit, ...]
    findings: tuple[Finding, ...] = ()
    next: tuple[Next, ...] = ()


def _start(session: Session, given: Given) -> Answer:
    from skel.store.filters import Filters
    from skel.store.search import answer

    signals = None
    if "tl." in given.query and "def " in given.query:
        from skel.code_query import signals_in

        signals = signals_in(given.query)
    filters = Filters(given.kind and given.kind.value, given.architecture, given.numerics and given.numerics.value,
                      given.source, given.proven)
    found = answer(session.database, given.query, given.limit, filters, signals=signals)
    hits = tuple(Hit(name=h.name, score=h.score, title=h.title, kind=h.kind, why=h.why[:400]) for h in found.hits)
    onward = tuple(
        Next(tool="get_skeleton", arguments={"name": one.name}, why="what it changes, and when it is legal")
        for one in hits[:2]
    )
    return Answer(
        query=given.query[:200], read_as=found.read_as, hits=hits, findings=_findings(found.language), next=onward
    )


def _findings(language: str | None) -> tuple[Finding, ...]:
    if language is None:
        return ()
    from skel.rewriter.reasons import finding

    return (finding("language_not_understood", language=language),)


TOOL = Tool(
    "search_skeletons",
    paragraphs("""Find optimization skeletons by what you see: a symptom in your own words, a technique, profiler
    output or a piece of code. No hits means that nothing known answers it: say it in other words once, then stop.

    Next: get_skeleton for one of them, or scan_kernel to see which apply to a file."""),
    Given,
    Answer,
    _start,
)
