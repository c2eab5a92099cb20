"""Mining several sources, and the document of what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skel.faults import WrongUse

if TYPE_CHECKING:
    from skel.miner.sources import Source
    from skel.store.database import Database
    from skel.store.mined_query import SourceSummary

Steps = Callable[[str, int, int], None]
"""Called with what is being read, how much of it is done, and how much there is."""


def mine_sources(database: Database, specs: list[str], steps: Steps, drafts: Path | None = None) -> dict[str, Any]:
    """Mine each source; the known packages where none is named. All are opened before the first is read.

    With `drafts`, the admitted drafts of the histories are written into that folder.
    Raises SourceError and StoreError: the sources before the one at fault are stored, the others are not. Raises
    WrongUse where drafts are asked for and no source has a history.
    """
    from skel.miner.claimed import mine_claims, require_history
    from skel.miner.mining import mine
    from skel.miner.sources import known_entries, open_source

    names = specs or [name for name, entry in known_entries().items() if entry.kind == "package"]
    opened = [open_source(name) for name in names]
    for source in opened:
        require_history(source)
    if drafts is not None and all(source.repository is None for source in opened):
        raise WrongUse("drafts are made of histories, and none of these sources is a repository",
                       hint="name a git repository, by path or URL")  # fmt: skip
    found, written = [], []
    for source in opened:
        began = time.monotonic()

        def progress(done: int, total: int, doing: str = f"reading {source.name} {source.revision[:12]}") -> None:
            steps(doing, done, total)

        def commits(done: int, total: int, doing: str = f"reading the history of {source.name}") -> None:
            steps(doing, done, total)

        mined = mine(source, database, progress)
        mine_claims(source, database, commits)
        if drafts is not None and source.repository is not None:
            written.append(_write_drafts(source, drafts, commits))
        found.append((mined.name, mined.state, round(time.monotonic() - began, 1)))
    stored = {entry["name"]: entry for entry in reported(database, [])["sources"]}
    document = {"sources": [{**stored[name], "state": state, "seconds": seconds} for name, state, seconds in found]}
    return document if drafts is None else {**document, "drafts": written}


def _write_drafts(source: Source, folder: Path, commits: Callable[[int, int], None]) -> dict[str, Any]:
    """Drafts of one history: the files of those that were admitted, and why the others were not."""
    from skel.miner.claimed import drafts_of
    from skel.miner.drafts import write_drafts

    made = list(drafts_of(source, commits))
    good = [one for one in made if one.admission is not None and one.admission.admitted]
    files = [str(path) for path in write_drafts(good, folder)]
    rest = [{"edit": one.edit, "kernels": one.kernels, "reasons": list(one.admission.reasons)}
            for one in made if one.admission is not None and not one.admission.admitted]  # fmt: skip
    return {"source": source.name, "written": files, "not_admitted": rest}


def reported(database: Database, names: list[str]) -> dict[str, Any]:
    """What was mined of these sources, or of all: for each technique how many places, new, gone and changed ones.

    Raises WrongUse for a source that was not mined, StoreError.
    """
    from skel.store.mined_query import mined_sources

    have = {source.name: source for source in mined_sources(database)}
    chosen = [_mined(name, have) for name in names] or list(have.values())
    return {"sources": [
        {"name": s.name, "kind": s.kind, "repository": s.repository, "place": s.place, "revision": s.revision,
         "licence": s.licence, "mined_at": s.mined_at, "state": "stored", "seconds": None, **s.summary}
        for s in chosen
    ]}  # fmt: skip


def _mined(spec: str, have: dict[str, SourceSummary]) -> SourceSummary:
    """The mined source that `spec` names, by its name or as it was given to be mined. Raises WrongUse."""
    from skel.miner.errors import SourceError
    from skel.miner.sources import entry_of

    if spec in have:
        return have[spec]
    try:
        entry = entry_of(spec)
    except SourceError:
        entry = None
    found = have.get(entry.name) if entry is not None else None
    if entry is None or found is None:
        raise WrongUse(f"{spec} was not mined", hint=f"mine it first: skel mine {spec}")
    if entry.kind == "package" and entry.revision not in (None, found.revision):
        raise WrongUse(f"{spec} was not mined, or not last: what is kept of {found.name} is {found.revision}",
                       hint=f"skel mine --report {found.name}, or mine it: skel mine {spec}")  # fmt: skip
    return found
