"""Scans of files seen before, by content: the text, what is read from other files, and the rewriter that read it."""

from __future__ import annotations

import hashlib
import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

SUFFIX = ".json"


class ScanCache:
    """Results in a folder, one file each. Whatever cannot be read or no longer holds is scanned again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lookups: dict[tuple[str, str], str | None] = {}
        self._contents: dict[str, str | None] = {}

    def get(self, path: str, text: str) -> dict[str, Any] | None:
        """The result for this text at this path; None where there is none, or a helper's file has changed."""
        try:
            entry = json.loads(self._file(path, text).read_bytes())
            holds = all(self._find(asking, name) == found and self._content(found) == content
                        for asking, name, found, content in entry["reads"])
            return entry["result"] if holds else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, path: str, text: str, result: dict[str, Any]) -> None:
        """Keep a result. A folder that cannot be written keeps nothing."""
        reads = [[asking, name, found, self._content(found)] for asking, name, found in result.get("files_read") or ()]
        file = self._file(path, text)
        partial = file.with_suffix(f".{os.getpid()}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps({"reads": reads, "result": result}), encoding="utf-8")
            partial.replace(file)
        except OSError:
            return

    def _file(self, path: str, text: str) -> Path:
        parts = "\0".join((scanner_version(), os.path.abspath(path), path, text))
        name = hashlib.sha256(parts.encode(errors="surrogatepass")).hexdigest()
        return self.folder / name[:2] / (name + SUFFIX)

    def _find(self, asking: str, name: str) -> str | None:
        from skel.rewriter.resolve.modules import find_import

        if (asking, name) not in self._lookups:
            place = find_import(asking, name)
            self._lookups[asking, name] = str(place[0]) if place is not None else None
        return self._lookups[asking, name]

    def _content(self, path: str | None) -> str | None:
        if path is None:
            return None
        if path not in self._contents:
            try:
                self._contents[path] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            except OSError:
                self._contents[path] = None
        return self._contents[path]


def user_cache() -> ScanCache:
    """The cache in the user's cache folder."""
    from platformdirs import user_cache_path

    return ScanCache(user_cache_path("skel") / "scan")


@lru_cache(maxsize=1)
def scanner_version() -> str:
    """A hash of the rewriter's and the schema's own sources: another rewriter may see other things."""
    import skel.rewriter
    import skel.store.schema

    digest = hashlib.sha256()
    for package in (skel.rewriter, skel.store.schema):
        folder = Path(str(package.__file__)).parent
        for file in sorted(folder.rglob("*.py")):
            digest.update(str(file.relative_to(folder)).encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
