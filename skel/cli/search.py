"""`skel search`: skeletons by symptom, technique, code or profiler output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skel.faults import WrongUse

from .options import Db, Json
from .output import emit, working

if TYPE_CHECKING:
    from rich.console import Console

    from skel.store.filters import Filters
    from skel.store.search import Answer

MAX_INPUT = 4_000_000
"""Characters that are read from standard input."""

Query = Annotated[
    list[str],
    typer.Argument(metavar="QUERY", help="A symptom, a technique, code or profiler output; - reads standard input."),
]
Limit = Annotated[int, typer.Option("-n", "--limit", min=1, max=1000, help="At most this many hits.")]
KindOption = Annotated[str | None, typer.Option("--kind", help="local, structural, host or template.")]
Architecture = Annotated[str | None, typer.Option("--architecture", help="What works there, for example sm_90.")]
NumericsOption = Annotated[
    str | None, typer.Option("--numerics", help="At most this change of results: bitwise, reassociated, ...")
]
SourceOption = Annotated[str | None, typer.Option("--source", help="Seen in repositories whose name has this in it.")]
Proven = Annotated[
    bool | None, typer.Option("--proven/--unproven", help="Only what was, or was not, measured to gain here.")
]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="MODEL", help="A sentence-transformers model on this machine; indexed at first."),
]


def command(
    query: Query,
    limit: Limit = 5,
    kind: KindOption = None,
    architecture: Architecture = None,
    numerics: NumericsOption = None,
    source: SourceOption = None,
    proven: Proven = None,
    model: Model = None,
    as_json: Json = False,
    db: Db = None,
) -> int:
    """Find skeletons by how you would describe the problem. A query that nothing answers gets no hits."""
    text = sys.stdin.read(MAX_INPUT) if query == ["-"] else " ".join(query)
    text = text.strip()
    if not text:
        raise WrongUse("the query is empty", hint='for example `skel search "redundant normalization"`')
    filters = _filters(kind, architecture, numerics, source, proven)
    with working("searching" if model is None else f"searching with {model}"):
        found = _answer(text, limit, filters, model, db)
    document = {"query": text, "read_as": found.read_as, "hits": found.hits, "findings": _findings(found)}
    emit(document, as_json, lambda console: _render(console, text, found, filters is not None))
    return 0


def _answer(text: str, limit: int, filters: Filters | None, model: str | None, db: str | None) -> Answer:
    from skel.store.embedding.model import DEFAULT_MODEL
    from skel.store.errors import StoreError
    from skel.store.search import answer

    from .database import open_store

    signals = None
    if "tl." in text and "def " in text:
        from skel.code_query import signals_in

        signals = signals_in(text)
    store = open_store(db)
    try:
        return answer(store, text, limit, filters, model or DEFAULT_MODEL, signals)
    except StoreError as error:
        if model is None or error.where != model:
            raise
        raise WrongUse(error.what, where=error.where, hint=error.hint) from error


def _filters(kind: str | None, architecture: str | None, numerics: str | None, source: str | None,
             proven: bool | None) -> Filters | None:
    if kind is None and architecture is None and numerics is None and source is None and proven is None:
        return None
    from skel.store.filters import Filters
    from skel.store.schema.words import Kind, NumericsClass

    for option, value, words in (("--kind", kind, Kind), ("--numerics", numerics, NumericsClass)):
        known = [word.value for word in words]
        if value is not None and value not in known:
            raise WrongUse(f"{option} {value} is not known", hint=f"one of {', '.join(known)}")
    return Filters(kind, architecture, numerics, source, proven)


def _findings(found: Answer) -> list[Any]:
    if found.read_as != "other_language":
        return []
    from skel.store.schema import Finding

    return [Finding(code="language_not_understood", message=f"the query is in {found.language}, which search "
                    "does not understand", hint="ask in English or Chinese", data={"language": found.language})]


def _render(console: Console, query: str, found: Answer, filtered: bool) -> None:
    if found.read_as == "other_language":
        console.print(f"the query is in {found.language}, which search does not understand; ask in English or Chinese",
                      markup=False)
        return
    if not found.hits:
        shown = query if len(query) <= 80 else query[:77] + "..."
        console.print(f"nothing that passes the filters answers {shown!r}; leave some out" if filtered else
                      f"nothing answers {shown!r}; say what you see in other words, or see `skel list`", markup=False)
        return
    for hit in found.hits:
        console.print(f"{hit.score:.2f}  [bold]{hit.name}[/]  ", end="")
        console.print(f"{hit.title} ({hit.kind})", markup=False)
        console.print(f"      {hit.why}", markup=False)
    console.print(f"see `skel show {found.hits[0].name}`", markup=False)
