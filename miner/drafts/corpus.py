"""Functions to try a draft on: those that its own commits edited, before and after, and unrelated ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from skel.miner.history.cache import HistoryCache
from skel.miner.history.functions import Function, functions_of
from skel.miner.history.git import Blobs, GitHistory
from skel.miner.history.paths import is_test

from .constraints import Origins, origins_of
from .examples import Example


@dataclass(frozen=True, eq=False)
class Version:
    """One function at one commit."""

    texts: tuple[str, ...]
    """Its canonical statements."""
    origins: Origins
    kernel: bool


class Corpus:
    """The functions of one repository's history. Use it in a `with`."""

    def __init__(self, history: GitHistory, cache: HistoryCache, repository: str) -> None:
        self.repository = repository
        self._history, self._cache = history, cache
        self._blobs: Blobs = history.blobs()
        self._read = lru_cache(maxsize=64)(self._read_file)
        self._version = lru_cache(maxsize=2048)(self._version_of)

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, *_: object) -> None:
        self._blobs.close()

    def pair(self, example: Example) -> tuple[Version, Version] | None:
        """The function that an example is of, before and after its commit; None where either is not there."""
        commit = self._cache.commit(example.commit)
        change = next((c for c in commit.changes if c.path == example.path), None) if commit is not None else None
        if change is None or change.before is None or change.after is None:
            return None
        old = self._version(change.before, example.function)
        new = self._version(change.after, example.function)
        return (old, new) if old is not None and new is not None else None

    def _version_of(self, blob: str, name: str) -> Version | None:
        found = self._read(blob).get(name)
        return version(found) if found is not None else None

    def unrelated(
        self, without: frozenset[tuple[str, str]], most: int, seed: int = 0
    ) -> Iterator[tuple[tuple[str, str], Version]]:
        """Kernels and launchers at the newest commit of the main branch by (path, function), in a fixed random order,
        except those that are named."""
        tree = self._history.files("HEAD")
        paths = sorted(p for p in tree if p.endswith(".py") and not is_test(p))
        random.Random(seed).shuffle(paths)
        count = 0
        for path in paths:
            for name, function in self._read(tree[path]).items():
                if (path, name) in without:
                    continue
                if count >= most:
                    return
                count += 1
                yield (path, name), version(function)

    def _read_file(self, blob: str) -> dict[str, Function]:
        content = self._blobs.read(blob)
        text = content.decode("utf-8", "replace") if content is not None else ""
        if "triton" not in text:
            return {}
        try:
            return functions_of(text)
        except (SyntaxError, ValueError, RecursionError):
            return {}


def version(function: Function) -> Version:
    """A function as drafts see it."""
    return Version(tuple(s.text for s in function.statements), origins_of(function.canonical), function.kernel)
