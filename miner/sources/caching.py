"""The user's cache: what was fetched or unpacked once. It may be deleted at any time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skel.miner.errors import SourceError


def cache_folder(kind: str) -> Path:
    """The folder of one kind of kept things, made where it is missing. Raises SourceError."""
    from platformdirs import user_cache_path

    folder = user_cache_path("skel", appauthor=False) / kind
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_write(folder, error) from error
    return folder


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` at the end, or nothing if that fails. Raises SourceError."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        partial.unlink(missing_ok=True)


def _cannot_write(path: Path, error: OSError) -> SourceError:
    return SourceError(
        f"cannot be written ({error.strerror or error})",
        str(path),
        "free some space or make it writable, or set XDG_CACHE_HOME to another place",
        missing=True,
    )
