"""Mining several sources, and the document of what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from skel.faults import WrongUse

if TYPE_CHECKING:
    from skel.store.database import Database

Steps = Callable[[str, int, int], None]
"""Called with what is being read, how much of it is done, and how much there is."""


def mine_sources(database: Database, specs: list[str], steps: Steps) -> dict[str, Any]:
    """Mine each source; the known packages where none is named. All are opened before the first is read.

    Raises SourceError and StoreError: the sources before the one at fault are stored, the others are not.
    """
    from skel.miner.claimed import mine_claims, require_history
    from skel.miner.mining import mine
    from skel.miner.sources import known_entries, open_source

    names = specs or [name for name, entry in known_entries().items() if entry.kind == "package"]
    opened = [open_source(name) for name in names]
    for source in opened:
        require_history(source)
    found = []
    for source in opened:
        began = time.monotonic()

        def progress(done: int, total: int, doing: str = f"reading {source.name} {source.revision[:12]}") -> None:
            steps(doing, done, total)

        def commits(done: int, total: int, doing: str = f"reading the history of {source.name}") -> None:
            steps(doing, done, total)

        mined = mine(source, database, progress)
        mine_claims(source, database, commits)
        found.append((mined.name, mined.state, round(time.monotonic() - began, 1)))
    stored = {entry["name"]: entry for entry in reported(database, [])["sources"]}
    return {"sources": [{**stored[name], "state": state, "seconds": seconds} for name, state, seconds in found]}


def reported(database: Database, names: list[str]) -> dict[str, Any]:
    """What was mined of these sources, or of all: for each technique how many places, new, gone and changed ones.

    Raises WrongUse for a source that was not mined, StoreError.
    """
    from skel.store.mined_query import mined_sources

    have = {source.name: source for source in mined_sources(database)}
    unknown = [name for name in names if _plain(name) not in have]
    if unknown:
        raise WrongUse(f"{unknown[0]} was not mined", hint=f"mine it first: skel mine {unknown[0]}")
    chosen = [have[_plain(name)] for name in names] or list(have.values())
    return {"sources": [
        {"name": s.name, "kind": s.kind, "repository": s.repository, "place": s.place, "revision": s.revision,
         "licence": s.licence, "mined_at": s.mined_at, "state": "stored", "seconds": None, **s.summary}
        for s in chosen
    ]}  # fmt: skip


def _plain(name: str) -> str:
    """`fla-core` for `fla-core==0.6.0`."""
    return name.partition("==")[0].strip()
