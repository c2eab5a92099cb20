"""Writes what was recorded: one folder a process, one line of JSON a record, one file of tensors a call."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .numbers import PIECE_BYTES, STORED_BYTES
from .statistics import statistics

if TYPE_CHECKING:
    import torch

    from .memory import Snapshot


class Writer:
    """The recording of one process, in `folder/PID`. `choice` is `stored` or `statistics`."""

    def __init__(self, folder: Path, choice: str) -> None:
        self.folder = folder / str(os.getpid())
        self.folder.mkdir(parents=True, exist_ok=True)
        self._choice = choice
        self._stored = 0
        self._sources: dict[str, str] = {}
        self._lock = threading.Lock()
        self._lines = open(self.folder / "records.jsonl", "a", encoding="utf-8")

    def write(self, kind: str, record: dict[str, Any]) -> None:
        """Appends one record of a kind: `process`, `launch`, `call`, `count`."""
        with self._lock:
            self._lines.write(json.dumps({"record": kind, **record}) + "\n")
            self._lines.flush()

    def source(self, path: str) -> str:
        """The hash of a source file, whose text is kept beside the records. Empty where it cannot be read."""
        if path not in self._sources:
            try:
                text = Path(path).read_bytes()
            except OSError:
                self._sources[path] = ""
            else:
                sha = hashlib.sha256(text).hexdigest()
                (self.folder / f"{sha}.py").write_bytes(text)
                self._sources[path] = sha
        return self._sources[path]

    def pieces(self, taken: Snapshot, file: str, executed: bool) -> list[dict[str, Any]]:
        """Describes the pieces of a snapshot and saves those whose values are kept, as `file`.

        Where launches are not `executed`, unwritten memory is NaN, and so is what was computed from it: such values
        are not real and are not kept.
        """
        import torch

        described: list[dict[str, Any]] = []
        kept: dict[int, torch.Tensor] = {}
        for number, (piece, dtype) in enumerate(zip(taken.pieces, taken.dtypes, strict=True)):
            flat = piece.cpu()
            typed = _typed(flat, dtype)
            figures = statistics(typed) if typed is not None else {"kind": "mixed"}
            real = executed or not figures.get("nan")
            values = self._values(flat.numel(), figures, real)
            if values == "stored":
                kept[number] = flat
            described.append({"bytes": flat.numel(), "dtype": dtype, "values": values, "statistics": figures})
        if kept:
            part = self.folder / f"{file}.part"
            torch.save(kept, part)
            part.rename(self.folder / file)
        return described

    def _values(self, size: int, figures: dict[str, Any], real: bool) -> str:
        """Integers are stored whatever the choice, since they are indices, lengths and offsets; `mixed` must be."""
        if not real and figures["kind"] == "float":
            return "assumed"
        whole = figures["kind"] != "float"
        room = size <= PIECE_BYTES and self._stored + size <= STORED_BYTES
        if (room and (whole or self._choice == "stored")) or figures["kind"] in ("mixed", "empty"):
            self._stored += size
            return "stored"
        return "regenerated"


def _typed(flat: torch.Tensor, dtype: str | None) -> torch.Tensor | None:
    """The bytes as elements of the dtype, a ragged end cut off; None where the tensors on them differ in dtype."""
    import torch

    if not dtype:
        return flat if dtype == "" else None
    kind = getattr(torch, dtype)
    size = torch.empty(0, dtype=kind).element_size()
    return flat[: flat.numel() // size * size].view(kind)
