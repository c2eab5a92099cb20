"""A folder of sources. Its revision is the hash of the files that may hold kernels."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from skel.miner.errors import SourceError

from .entry import NO_LICENCE, Entry
from .licences import licence_files, licence_of_text
from .source import MAX_BYTES, Source

SKIPPED = frozenset({"__pycache__", "node_modules", "build", "dist", "venv"})


@dataclass(frozen=True)
class FolderSource(Source):
    """A folder on disk."""

    path: Path

    @property
    def root(self) -> Path:
        return self.path

    @cached_property
    def _names(self) -> list[str]:
        found = []
        for current, folders, names in os.walk(self.path, onerror=_unreadable):
            folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
            below = Path(current).relative_to(self.path)
            found += [(below / name).as_posix() for name in names]
        return sorted(found)

    def names(self) -> list[str]:
        return self._names

    def contents(self, names: list[str]) -> Iterator[tuple[str, bytes]]:
        for name in names:
            path = self.path / name
            try:
                if path.is_file() and path.stat().st_size <= MAX_BYTES:
                    yield name, path.read_bytes()
            except OSError as error:
                raise _cannot_read(path, error) from error


def open_folder(entry: Entry, path: Path) -> FolderSource:
    """The source in a folder. Raises SourceError where it is none, or cannot be read."""
    if not path.is_dir():
        raise SourceError("is no folder", str(path), "name a folder, an archive or a git repository")
    draft = FolderSource(entry, "", entry.licence or _licence(path), path.resolve())
    digest = hashlib.sha256()
    for name, data in draft.files():
        digest.update(f"{name}\0{len(data)}\0".encode(errors="surrogateescape"))
        digest.update(data)
    return FolderSource(entry, digest.hexdigest()[:40], draft.licence, draft.path)


def _licence(path: Path) -> str:
    for name in licence_files(entry.name for entry in path.iterdir() if entry.is_file()):
        try:
            return licence_of_text((path / name).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
    return NO_LICENCE


def _unreadable(error: OSError) -> None:
    raise _cannot_read(Path(str(error.filename)), error)


def _cannot_read(path: Path, error: OSError) -> SourceError:
    return SourceError(f"cannot be read ({error.strerror or error})", str(path), "check its permissions")
