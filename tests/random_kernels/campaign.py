"""Many seeds in chunks, by several processes; what is done is written after every chunk, and is not done again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .checking import check_seeds
from .processes import in_processes
from .summary import Summary, versions

CHUNK = 50


class Campaign:
    """The kernels of `count` seeds from `first` on, with its state in a file."""

    def __init__(self, first: int, count: int, state: Path) -> None:
        self.state = state
        self.summary = Summary(first, count)
        self.chunks: list[int] = []
        """First seeds of the chunks that are done."""
        self.versions: list[dict[str, Any]] = []
        """What they were done with: versions and the number of kernels."""
        if state.exists():
            held = json.loads(state.read_text(encoding="utf-8"))
            self.summary = Summary.read(held["summary"])
            self.chunks, self.versions = held["chunks"], held["versions"]
            if (self.summary.first, self.summary.count) != (first, count):
                raise ValueError(f"{state} is the state of other seeds: {self.summary.first}, {self.summary.count}")

    def run(self, jobs: int, seen: Callable[[Summary], None]) -> Summary:
        """Does what is left with `jobs` processes; `seen` is called after every chunk."""
        first, count = self.summary.first, self.summary.count
        left = [start for start in range(first, first + count, CHUNK) if start not in self.chunks]
        now = versions()
        # A process is ended after some chunks, so that what its analyses hold stays small.
        pieces = [(start, min(CHUNK, first + count - start)) for start in left]
        for (start, _), result in in_processes(_chunk, pieces, jobs, each=4):
            if isinstance(result, Exception):
                raise result
            part = Summary.read(result)
            self.summary.add(part)
            self.chunks.append(start)
            self._note(now, part.done)
            self.write()
            seen(self.summary)
        return self.summary

    def document(self) -> dict[str, Any]:
        """The summary with what it was made with."""
        return {**self.summary.document(), "versions": self.versions}

    def write(self) -> None:
        """Writes the state, whole or not at all."""
        held = {"summary": self.summary.document(), "chunks": self.chunks, "versions": self.versions}
        part = self.state.with_suffix(".part")
        part.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
        os.replace(part, self.state)

    def _note(self, now: dict[str, str], kernels: int) -> None:
        for held in self.versions:
            if {k: v for k, v in held.items() if k != "kernels"} == now:
                held["kernels"] += kernels
                return
        self.versions.append({**now, "kernels": kernels})


def _chunk(piece: tuple[int, int]) -> dict[str, Any]:
    return check_seeds(*piece, batch=CHUNK).document()
