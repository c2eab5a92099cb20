"""What was found so far, a line each, in files that several processes add to."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any


class Lines:
    """Lines by kind: FOLDER/KIND.jsonl. A line that was cut off is passed over."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, kind: str, **fields: Any) -> None:
        """Adds one, whole, to the end."""
        with open(self._folder / f"{kind}.jsonl", "a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(json.dumps(fields) + "\n")
            file.flush()

    def all(self, kind: str) -> list[dict[str, Any]]:
        """In the order in which they were added."""
        path = self._folder / f"{kind}.jsonl"
        found = []
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found
