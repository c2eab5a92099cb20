"""Files inside zip archives by ordinary paths: `dir/package.whl/folder/module.py`, as `zipimport` spells them.

Wheels are read as they are: nothing is unpacked and nothing is imported.
"""

from __future__ import annotations

import lzma
import zipfile
import zlib
from functools import lru_cache
from pathlib import Path

SUFFIXES = (".whl", ".zip")
MAX_BYTES = 4_000_000
"""Larger sources are not read."""


def archive_of(path: Path) -> tuple[Path, str] | None:
    """The archive that a path runs through and the member's name; None for an ordinary path."""
    for parent in (path, *path.parents):
        if parent.suffix in SUFFIXES and parent.is_file():
            return parent, path.relative_to(parent).as_posix()
    return None


def is_file(path: Path) -> bool:
    """True for a file, also inside an archive."""
    inside = archive_of(path)
    return path.is_file() if inside is None else inside[1] in _members(inside[0], _stamp(inside[0]))


def is_folder(path: Path) -> bool:
    """True for a folder, also inside an archive; an archive itself counts as one."""
    inside = archive_of(path)
    if inside is None:
        return path.is_dir()
    prefix = "" if inside[1] == "." else f"{inside[1]}/"
    return any(name.startswith(prefix) for name in _members(inside[0], _stamp(inside[0])))


def read_file(path: Path) -> str | None:
    """The text of a file, line ends kept; None where it is not there, too large or not UTF-8."""
    inside = archive_of(path)
    try:
        if inside is None:
            return path.read_bytes().decode("utf-8") if path.stat().st_size <= MAX_BYTES else None
        with zipfile.ZipFile(inside[0]) as archive:
            if archive.getinfo(inside[1]).file_size > MAX_BYTES:
                return None
            return archive.read(inside[1]).decode("utf-8")
    except (OSError, KeyError, ValueError, EOFError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile):
        return None  # no text, or damaged, encrypted, of an unknown kind


def _stamp(archive: Path) -> int:
    return archive.stat().st_mtime_ns


@lru_cache(maxsize=32)
def _members(archive: Path, stamp: int) -> frozenset[str]:
    """Names in the archive; the stamp makes a changed archive a new one."""
    try:
        with zipfile.ZipFile(archive) as opened:
            return frozenset(opened.namelist())
    except (OSError, zipfile.BadZipFile):
        return frozenset()
