"""What was read of files before, by content: a run that was killed goes on, and a new revision reads what changed."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from .code.model import Condition, MinedFile, MinedKernel, Occurrence
from .sources.caching import cache_folder


@dataclass
class MinedCache:
    """Results in the user's cache, one file each, for sources that lie below `root`.

    Whatever cannot be read or no longer holds is read again; a full disk keeps nothing more.
    """

    root: Path
    _found: dict[tuple[str, str], str | None] = field(default_factory=dict)
    _contents: dict[str, str | None] = field(default_factory=dict)

    def get(self, key: str) -> list[MinedFile] | None:
        """The files' results; None where there are none, or a helper's file has changed."""
        try:
            entry = json.loads(self._file(key).read_bytes())
            if all(self._find(asking, name) == found and self._content(found) == content
                   for asking, name, found, content in entry["reads"]):  # fmt: skip
                return [_file(one) for one in entry["files"]]
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return None

    def put(self, key: str, files: list[MinedFile]) -> None:
        """Keep results. A folder that cannot be written keeps nothing."""
        reads = [[asking, name, found, self._content(found)] for file in files for asking, name, found in file.reads]
        path = self._file(key)
        partial = path.with_suffix(f".{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps({"reads": reads, "files": [asdict(f) for f in files]}), encoding="utf-8")
            partial.replace(path)
        except OSError:
            partial.unlink(missing_ok=True)

    def relative(self, file: MinedFile) -> MinedFile:
        """The result with the paths of its lookups relative to the root, so that they hold for another revision."""
        reads = tuple(
            (self._inside(a), name, None if found is None else self._inside(found)) for a, name, found in file.reads
        )
        return MinedFile(file.path, file.kernels, file.not_read, file.faults, file.other_languages, reads)

    def _inside(self, path: str) -> str:
        return os.path.relpath(path, self.root) if Path(path).is_relative_to(self.root) else path

    def _file(self, key: str) -> Path:
        return cache_folder("mined") / key[:2] / f"{key}.json"

    def _find(self, asking: str, name: str) -> str | None:
        from skel.rewriter.resolve.modules import find_import

        if (asking, name) not in self._found:
            place = find_import(str(self.root / asking), name)
            self._found[asking, name] = self._inside(str(place[0])) if place is not None else None
        return self._found[asking, name]

    def _content(self, path: str | None) -> str | None:
        from skel.rewriter.resolve.archives import read_file

        if path is None:
            return None
        if path not in self._contents:
            text = read_file(self.root / path)
            known = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest() if text is not None else None
            self._contents[path] = known
        return self._contents[path]


def key_of(*parts: str | bytes) -> str:
    """The name of a result: of the miner that made it and everything that went into it."""
    hasher = hashlib.sha256(miner_version().encode())
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode(errors="surrogatepass")
        hasher.update(f"\0{len(data)}\0".encode())
        hasher.update(data)
    return hasher.hexdigest()


@lru_cache(maxsize=1)
def miner_version() -> str:
    """A hash of everything that decides what is seen in a file: another miner may see other things."""
    import skel.rewriter
    import skel.store.schema

    folders = [Path(__file__).parent / name for name in ("code", "cuda")]
    folders += [Path(str(package.__file__)).parent for package in (skel.rewriter, skel.store.schema)]
    return hash_of(folders)


def hash_of(folders: list[Path]) -> str:
    """A hash of the Python files in some folders."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(folder.rglob("*.py")):
            digest.update(f"{folder.name}/{file.relative_to(folder)}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _file(data: dict[str, Any]) -> MinedFile:
    kernels = tuple(
        MinedKernel(**{
            **one,
            "conditions": tuple(Condition(**c) for c in one["conditions"]),
            "occurrences": tuple(Occurrence(**{**o, "refusals": tuple(o["refusals"])}) for o in one["occurrences"]),
        })
        for one in data["kernels"]
    )  # fmt: skip
    return MinedFile(**{**data, "kernels": kernels, "faults": tuple(data["faults"]),
                        "reads": tuple((a, n, f) for a, n, f in data["reads"])})  # fmt: skip
