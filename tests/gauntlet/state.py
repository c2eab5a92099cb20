"""Work in pieces, by several processes: each result is a line of a file, and what is there is not done again."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from tests.random_kernels.processes import in_processes


class Lines:
    """A file of JSON documents, one a line, each with a `key`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)

    def read(self) -> dict[str, Any]:
        """The documents by key; the last one counts. A line that was cut off is left out."""
        if not self.path.exists():
            return {}
        found = {}
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                one = json.loads(line)
            except json.JSONDecodeError:
                continue
            found[one["key"]] = one
        return found

    def add(self, one: dict[str, Any]) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(one) + "\n")


VERSIONS = "versions.json"


def note_versions(results: Path) -> None:
    """Adds what this process runs with to what the file of results was made with, where it differs."""
    path = results.parent / VERSIONS
    held: dict[str, list[dict[str, str]]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    now = {"rewriter": rewriter_digest(), "python": platform.python_version()}
    now |= {name: importlib.metadata.version(name) for name in ("triton", "torch", "numpy")}
    if now not in held.setdefault(results.stem, []):
        held[results.stem].append(now)
        path.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


def rewriter_digest() -> str:
    """Names the rewriter's code and records: the table holds for these."""
    root = Path(__file__).resolve().parents[2]
    made = hashlib.sha256()
    for path in sorted([*root.glob("rewriter/**/*.py"), *root.glob("skeletons/*/skeleton.yaml")]):
        made.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()[:12]


def work(
    pieces: Iterable[tuple[str, Any]], do: Callable[[Any], dict[str, Any]], lines: Lines, jobs: int, each: int = 8
) -> None:
    """Does every piece that is not done, in processes that end after `each` pieces, so that they stay small."""
    note_versions(lines.path)
    done = lines.read()
    left = [(key, piece) for key, piece in pieces if key not in done]
    begun = time.monotonic()
    for number, ((key, _), found) in enumerate(in_processes(partial(_second, do), left, jobs, each), 1):
        row = {"broken": "".join(traceback.format_exception(found))} if isinstance(found, Exception) else found
        lines.add({"key": key, **row})
        took = time.monotonic() - begun
        print(f"{number} of {len(left)}: {key}, {took:.0f} s", file=sys.stderr, flush=True)


def _second(do: Callable[[Any], dict[str, Any]], piece: tuple[str, Any]) -> dict[str, Any]:
    """A piece that breaks is a row of the table, and the others go on. Not every exception can leave its process."""
    try:
        return do(piece[1])
    except Exception:
        return {"broken": traceback.format_exc()}
