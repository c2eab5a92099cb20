"""What every kind of source offers, and the globs that choose its files."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from skel.miner.errors import SourceError

from .entry import Entry

MAX_BYTES = 4_000_000
"""Larger files hold tables, not kernels, and are not read."""
MAX_TOTAL = 400_000_000
"""What is held in memory at once; the largest known source has a tenth of it."""


@dataclass(frozen=True)
class Source(ABC):
    """A source at one revision, opened for reading. Nothing of it is ever imported or run."""

    entry: Entry
    revision: str
    """The package's version, the full commit, or the hash of a folder's files."""
    licence: str
    """SPDX identifier, `NOASSERTION` where none is stated."""

    @property
    def name(self) -> str:
        """What reports call the source."""
        return self.entry.name

    @property
    def kind(self) -> str:
        """`package`, `git` or `folder`."""
        return self.entry.kind

    @property
    def repository(self) -> Path | None:
        """The folder of a git source's objects (a bare repository, or `.git`); None for other kinds."""
        return None

    @property
    def has_full_history(self) -> bool:
        """True for a git source whose history is not cut short."""
        return False

    @property
    @abstractmethod
    def root(self) -> Path:
        """A folder or zip archive that holds the files, for readers that follow imports from file to file.

        Raises SourceError where it cannot be made.
        """

    @abstractmethod
    def names(self) -> list[str]:
        """Paths of all files, with `/`, sorted. Raises SourceError."""

    @abstractmethod
    def contents(self, names: list[str]) -> Iterator[tuple[str, bytes]]:
        """The named files that are there and are no larger than `MAX_BYTES`, in order. Raises SourceError."""

    def paths(self) -> list[str]:
        """Paths of the files that may hold kernels, by the entry's globs, sorted. Raises SourceError."""
        return [name for name in self.names() if is_kernel_file(self.entry, name)]

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Every file that may hold kernels: its path within the source, and its bytes. Raises SourceError.

        Bytes of a name that are no UTF-8 stand as `\\xff`.
        """
        total = 0
        for name, data in self.contents(self.paths()):
            total += len(data)
            if total > MAX_TOTAL:
                what = f"its files that may hold kernels are more than {MAX_TOTAL // 1_000_000} MB"
                raise SourceError(what, f"{self.name} {self.revision}".strip(), "give an entry with fewer `kernels`")
            yield os.fsencode(name).decode("utf-8", "backslashreplace"), data


def is_kernel_file(entry: Entry, name: str) -> bool:
    """True where the entry's globs choose the file."""
    return _matches(entry.kernels, name) and not _matches(entry.excluded, name)


def _matches(globs: tuple[str, ...], name: str) -> bool:
    return any(_pattern(glob).fullmatch(name) for glob in globs)


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    """`**/` is any folders or none, `*` anything within one name."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    meaning = {"**/": r"(?:[^/]+/)*", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    return re.compile("".join(meaning.get(part, re.escape(part)) for part in parts))
