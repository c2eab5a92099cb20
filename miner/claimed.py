"""What the commits of a git source claim, put into the database: every ref, read once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skel.store.database import Database
from skel.store.mined import FoundClaim, history_of, note_history, store_claims

from .cached import hash_of
from .errors import SourceError
from .sources import Source
from .sources.caching import cache_folder
from .sources.git import run_git

Progress = Callable[[int, int], None]
"""Called with the commits that are done, and how many there are."""


def require_history(source: Source) -> None:
    """Raise SourceError for a git source whose history is cut short: what it claims cannot be read."""
    if source.repository is not None and not source.has_full_history:
        raise SourceError("the history is cut short", str(source.repository),
                          "fetch the rest with `git fetch --unshallow`", missing=True)  # fmt: skip


def mine_claims(source: Source, database: Database, progress: Progress | None = None) -> dict[str, Any] | None:
    """Claims of all commits on all refs, unless no ref has moved since; None for a source without a history.

    Gives how many `commits` touched kernels, how many `claims` they make, and how many of them are `new`. Raises
    SourceError and StoreError, with nothing stored; what was read is kept in the cache, so that a run that was ended
    goes on.
    """
    if source.repository is None:
        return None
    require_history(source)
    refs = _refs(source)
    before = history_of(database, source.name)
    if before is not None and before.get("refs") == refs:
        return {**before, "new": 0}
    commits = list(_commits(source, progress))
    claims = [claim for commit in commits for claim in _claims(commit)]
    new = store_claims(database, source.name, source.entry.repository, claims)
    found = {"refs": refs, "commits": len(commits), "claims": len(claims), "new": new}
    note_history(database, source.name, found)
    return found


def _refs(source: Source) -> str:
    """A hash of where all refs stand, and of what reads them."""
    assert source.repository is not None
    listing = run_git(source.repository, "for-each-ref", "--format=%(objectname) %(refname)")
    here = Path(__file__).parent
    return hashlib.sha256(hash_of([here / "history", here / "claims"]).encode() + listing).hexdigest()


def drafts_of(source: Source, progress: Progress | None = None) -> Iterator[Any]:
    """Drafts of a git source's history, each with its admission. Raises SourceError."""
    from skel.miner.drafts import mine_drafts

    yield from _read(source, lambda cache, name: mine_drafts(_bare(source), cache, repository=name, progress=progress))


def _commits(source: Source, progress: Progress | None) -> Iterator[Any]:
    from skel.miner.history import mine_history

    yield from _read(
        source, lambda cache, name: mine_history(_bare(source), cache=cache, repository=name, progress=progress)
    )


def _bare(source: Source) -> Path:
    assert source.repository is not None
    return source.repository


def _read(source: Source, reading: Callable[[Path, str], Iterator[Any]]) -> Iterator[Any]:
    """What a reading of the history gives, with its cache in the user's cache folder."""
    cache = cache_folder("histories") / f"{source.name}.sqlite"
    try:
        yield from reading(cache, source.entry.repository or source.name)
    except OSError as error:
        hint = "free some space, or set XDG_CACHE_HOME to another place"
        what = f"the cache cannot be written ({error.strerror or error})"
        raise SourceError(what, str(cache), hint, missing=True) from error


def _claims(commit: Any) -> Iterator[FoundClaim]:
    """One for each claim of a commit; one for a fix or a revert of a technique that states no number."""
    technique = commit.techniques[0].skeleton if commit.techniques else None
    moment = _moment(commit.time)
    about = {"sweep": commit.sweep, "kernels": list(commit.kernels)[:20]}
    for claim in commit.claims:
        content = {**claim.model_dump(exclude_none=True, exclude={"text", "outcome"}), **about}
        yield FoundClaim(commit.commit, moment, commit.subject, technique, claim.outcome, claim.text, content)
    if technique is not None and not commit.claims and (commit.fixes or commit.reverts):
        outcome = "revert" if commit.reverts else "fix"
        yield FoundClaim(commit.commit, moment, commit.subject, technique, outcome, commit.subject, about)


def _moment(seconds: int) -> str:
    """The time in ISO 8601; the epoch's for a time that no calendar holds, as damaged commits have."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC).isoformat()
