"""Mining a history: every commit that changed kernels, with its edits, its claims and the techniques it applies."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path

from pydantic import Field

from skel.miner.claims import Claim, parse_claims
from skel.miner.pool import process_ended
from skel.store.schema.base import Record

from .attribute import attribute
from .cache import HistoryCache, file_key
from .difference import file_edit, is_source
from .git import Blobs, Change, Commit, GitHistory, HistoryError
from .messages import is_fix, is_routine, reverted
from .model import Attribution, FileEdit, FunctionEdit

CHUNK = 24
"""Commits read in one step; what is lost when a run is killed."""
SWEEP = 12
"""A commit that changes more kernels than this is a sweep: one decision, however many kernels."""


class EditOf(Record):
    """One function edit with the file it is in."""

    path: str
    edit: FunctionEdit


class MinedCommit(Record):
    """One commit that changed kernels or their launchers."""

    repository: str
    commit: str
    time: int
    """Seconds since the epoch."""
    subject: str
    edits: tuple[EditOf, ...]
    claims: tuple[Claim, ...] = ()
    techniques: tuple[Attribution, ...] = ()
    """The likeliest first."""
    fixes: bool = False
    """It repairs something: its edits are conditions of the techniques that they touch."""
    reverts: str | None = None
    """The commit that it takes back, or the subject where the message gives no name."""
    routine: bool = False
    """A version, a format, a merge: whatever it touches was not touched for speed."""
    notes: tuple[str, ...] = Field(default=())
    """Files that could not be read, and why."""

    @property
    def kernels(self) -> tuple[str, ...]:
        """Kernels that it changed, by file and name."""
        return tuple(sorted({f"{e.path}::{e.edit.name}" for e in self.edits if e.edit.kind == "kernel"}))

    @property
    def sweep(self) -> bool:
        """True where one decision went over many kernels."""
        return len(self.kernels) > SWEEP


Progress = Callable[[int, int], None]
"""Called with commits done and commits in all."""


def mine_history(
    path: str | Path,
    refs: Sequence[str] = (),
    cache: str | Path | None = None,
    *,
    repository: str = "",
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Iterator[MinedCommit]:
    """Commits of a git repository that changed kernels, oldest first.

    `refs`: branches or revisions, all references where none is named. `cache`: a file that keeps what was read, so that
    a second run reads only new commits, and one that was killed goes on; without it a temporary one is used.
    `repository`: the name that records carry. Raises HistoryError for a history that is cut short or broken, OSError
    where the cache cannot be written.
    """
    history = GitHistory(path)
    if cache is None:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            yield from _mine(history, refs, Path(folder) / "history.sqlite", repository, jobs, progress)
    else:
        yield from _mine(history, refs, Path(cache), repository, jobs, progress)


def mine_commits(path: str | Path, names: Sequence[str], *, repository: str = "") -> Iterator[MinedCommit]:
    """The named commits of a repository and no others, those that changed kernels; nothing is kept. Raises as
    `mine_history` does, HistoryError also where the repository does not hold a commit."""
    history = GitHistory(path)
    with history.blobs() as blobs:
        for commit in history.commits(names, walk=False):
            edits: list[EditOf] = []
            for change in commit.changes:
                found = _edit(blobs, change) if is_source(change.path) else FileEdit()
                edits += [EditOf(path=change.path, edit=e) for e in found.functions]
            if edits:
                yield _mined(commit, edits, [], repository)


def _mine(
    history: GitHistory,
    refs: Sequence[str],
    path: Path,
    repository: str,
    jobs: int | None,
    progress: Progress | None,
) -> Iterator[MinedCommit]:
    with HistoryCache(path) as cache:
        order = _fill(history, refs, cache, jobs or min(2, os.cpu_count() or 1), progress)
        for name in order:
            commit = cache.commit(name)
            assert commit is not None
            mined = assemble(commit, cache, repository)
            if mined is not None:
                yield mined


def assemble(commit: Commit, cache: HistoryCache, repository: str) -> MinedCommit | None:
    """A commit with what the cache holds of its files; None where it changed no kernel and no launcher."""
    edits: list[EditOf] = []
    notes: list[str] = []
    for change in commit.changes:
        found = cache.file(file_key(change)) if is_source(change.path) else None
        if found is None:
            continue
        edits += [EditOf(path=change.path, edit=e) for e in found.functions]
        if found.note:
            notes.append(f"{change.path}: {found.note}")
    if not edits:
        return None
    return _mined(commit, edits, notes, repository)


def _mined(commit: Commit, edits: list[EditOf], notes: list[str], repository: str) -> MinedCommit:
    return MinedCommit(
        repository=repository,
        commit=commit.name,
        time=commit.time,
        subject=commit.subject,
        edits=tuple(edits),
        claims=parse_claims(commit.message),
        techniques=attribute([(e.path, e.edit) for e in edits], commit.message),
        fixes=is_fix(commit.message),
        reverts=reverted(commit.message),
        routine=is_routine(commit.message),
        notes=tuple(notes),
    )


def _fill(
    history: GitHistory, refs: Sequence[str], cache: HistoryCache, jobs: int, progress: Progress | None
) -> list[str]:
    """Reads what the cache does not hold yet. Gives the names of all commits, oldest first."""
    known, files = cache.commits(), cache.files()
    total = history.count(refs)
    order: list[str] = []
    waiting: list[tuple[list[Commit], Future[list[tuple[str, FileEdit]]]]] = []

    def finish(keep: int) -> None:
        while len(waiting) > keep:
            commits, future = waiting.pop(0)
            try:
                found = future.result()
            except BrokenProcessPool as error:
                raise process_ended() from error
            cache.add(commits, found)
            if progress is not None:
                progress(len(order) - sum(len(c) for c, _ in waiting), total)

    def fresh() -> Iterator[Commit]:
        for commit in history.commits(refs):
            order.append(commit.name)
            if commit.name not in known:
                yield commit

    stream = fresh()
    with ProcessPoolExecutor(jobs, initializer=_start, initargs=(history,)) as pool:
        while chunk := list(islice(stream, CHUNK)):
            wanted: list[tuple[str, Change]] = []
            for change in (c for commit in chunk for c in commit.changes if is_source(c.path)):
                key = file_key(change)
                if key not in files:
                    files.add(key)
                    wanted.append((key, change))
            try:
                waiting.append((chunk, pool.submit(_read, wanted)))
            except BrokenProcessPool as error:
                raise process_ended() from error
            finish(2 * jobs)
        finish(0)
    if progress is not None:
        progress(len(order), total)
    return order


_reader: Blobs | None = None


def _start(history: GitHistory) -> None:
    """Runs once in every worker."""
    global _reader
    _reader = history.blobs()
    gc.set_threshold(50_000, 20, 20)  # trees are many small objects without cycles


def _read(wanted: list[tuple[str, Change]]) -> list[tuple[str, FileEdit]]:
    """File edits, in a worker. Edits that say nothing are kept too: they need not be read again."""
    assert _reader is not None
    return [(key, _edit(_reader, change)) for key, change in wanted]


def _edit(blobs: Blobs, change: Change) -> FileEdit:
    old = blobs.read(change.before) if change.before else None
    new = blobs.read(change.after) if change.after else None
    if (change.before and old is None) or (change.after and new is None):
        # Nothing is kept of it: fetched whole, the repository is read again.
        raise HistoryError(f"the content of {change.path} is not there: a partial clone, or a damaged one",
                           "history", "fetch the repository whole", missing=True)  # fmt: skip
    return file_edit(change.path, old, new)
