"""A package's wheel, or any zip archive, read where it lies."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from skel.miner.errors import SourceError

from .entry import NO_LICENCE, Entry
from .licences import licence_of_metadata, licence_of_text
from .source import MAX_BYTES, Source

_FAULTS = (
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
"""What zipfile raises on archives that are cut short, damaged, encrypted or of an unknown kind."""


@dataclass(frozen=True)
class ArchiveSource(Source):
    """A zip archive."""

    path: Path

    @property
    def root(self) -> Path:
        return self.path

    @cached_property
    def _names(self) -> list[str]:
        with open_archive(self.path) as archive:
            return sorted({info.filename for info in archive.infolist() if not info.is_dir()})

    def names(self) -> list[str]:
        return self._names

    def contents(self, names: list[str]) -> Iterator[tuple[str, bytes]]:
        with open_archive(self.path) as archive:
            for name in names:
                data = read_member(archive, name, self.path)
                if data is not None:
                    yield name, data


def open_package(entry: Entry, path: Path, version: str) -> ArchiveSource:
    """The source in a wheel. Raises SourceError for a file that is no sound archive."""
    return ArchiveSource(entry, version, entry.licence or _licence(path), path)


def open_archive(path: Path) -> zipfile.ZipFile:
    """The archive. Raises SourceError for a file that is no zip archive, or a damaged one."""
    try:
        return zipfile.ZipFile(path)
    except _FAULTS as error:
        raise _broken(path, error) from error


def read_member(archive: zipfile.ZipFile, name: str, path: Path) -> bytes | None:
    """A file of the archive; None for one that is too large. Raises SourceError for a damaged one."""
    try:
        if archive.getinfo(name).file_size > MAX_BYTES:
            return None
        with archive.open(name) as member:
            data = member.read(MAX_BYTES + 1)
    except (KeyError, *_FAULTS) as error:
        raise _broken(path, error) from error
    return data if len(data) <= MAX_BYTES else None


def _licence(path: Path) -> str:
    with open_archive(path) as archive:
        for name in archive.namelist():
            if name.endswith(".dist-info/METADATA") and name.count("/") == 1:
                metadata = read_member(archive, name, path) or b""
                found = licence_of_metadata(metadata.decode("utf-8", "replace"))
                if found != NO_LICENCE:
                    return found
        texts = [n for n in archive.namelist() if ".dist-info/" in n and "LICENSE" in n.upper()]
        for name in sorted(texts, key=len):
            return licence_of_text((read_member(archive, name, path) or b"").decode("utf-8", "replace"))
    return NO_LICENCE


def _broken(path: Path, error: Exception) -> SourceError:
    return SourceError(
        f"the archive is broken ({error or type(error).__name__})",
        str(path),
        "delete it and run again to download it anew, or name a sound one",
    )
