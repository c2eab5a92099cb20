"""`skel search`: skeletons by symptom, technique or code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skel.faults import WrongUse

from .options import Db, Json
from .output import emit, working

if TYPE_CHECKING:
    from rich.console import Console

    from skel.store.search import Hit

Query = Annotated[list[str], typer.Argument(metavar="QUERY", help="A symptom, a technique, profiler output or code.")]
Limit = Annotated[int, typer.Option("-n", "--limit", min=1, max=1000, help="At most this many hits.")]


def command(query: Query, limit: Limit = 5, as_json: Json = False, db: Db = None) -> int:
    """Find skeletons by how you would describe the problem. A query that nothing answers gets no hits."""
    from skel.store.search import search

    from .database import open_store

    text = " ".join(query).strip()
    if not text:
        raise WrongUse("the query is empty", hint='for example `skel search "redundant normalization"`')
    with working("searching"):
        hits = search(open_store(db), text, limit)
    emit({"query": text, "hits": hits}, as_json, lambda console: _render(console, text, hits))
    return 0


def _render(console: Console, query: str, hits: tuple[Hit, ...]) -> None:
    if not hits:
        console.print(f"nothing answers {query!r}; say what you see in other words, or see `skel list`", markup=False)
        return
    for hit in hits:
        console.print(f"{hit.score:.2f}  [bold]{hit.name}[/]  ", end="")
        console.print(f"{hit.title} ({hit.kind})", markup=False)
        console.print(f"      {hit.why}", markup=False)
    console.print(f"see `skel show {hits[0].name}`", markup=False)
