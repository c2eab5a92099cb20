"""One zip of what the processes of a command recorded. Written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .archive import FORMAT, MANIFEST


def collect(folder: Path, command: Sequence[str], choice: str) -> tuple[dict[str, Any], dict[str, Path]]:
    """The manifest of everything below `folder`, and the files that go with it, by their name in the zip."""
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "command": list(command),
        "choice": choice,
        "processes": [],
        "launches": [],
        "calls": [],
        "sources": {},
    }
    files: dict[str, Path] = {}
    for part in sorted(folder.iterdir(), key=lambda path: int(path.name)):
        _take(part, manifest, files)
    return manifest, files


def _take(part: Path, manifest: dict[str, Any], files: dict[str, Path]) -> None:
    """Adds one process's records, launches and calls numbered on."""
    launches, calls = len(manifest["launches"]), len(manifest["calls"])
    numbers: dict[int, int] = {}
    for line in (part / "records.jsonl").read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            break  # the process ended while it wrote its last line
        kind = record.pop("record")
        if kind == "process":
            manifest["processes"].append(record)
        elif kind == "launch":
            manifest["launches"].append(record | {"launch": record["launch"] + launches, "count": 1})
            manifest["sources"][record["sha256"]] = record["file"]
        elif kind == "call":
            number = numbers[record["call"]] = calls + len(numbers)
            for which in ("before", "after", "results"):
                path = part / f"call{record['call']}.{which}.pt"
                if path.exists():
                    files[f"calls/{number}/{which}.pt"] = path
            moved = [launch + launches for launch in record["launches"]]
            manifest["calls"].append(record | {"call": number, "launches": moved, "count": 1})
            manifest["sources"][record["sha256"]] = record["file"]
        elif "launch" in record:
            manifest["launches"][record["launch"] + launches]["count"] += 1
        elif record["call"] in numbers:
            manifest["calls"][numbers[record["call"]]]["count"] += 1
    for path in part.glob("*.py"):
        files[f"sources/{path.name}"] = path


def write(out: Path, manifest: dict[str, Any], files: dict[str, Path]) -> None:
    """Writes the zip through a temporary file beside it. Raises OSError where that is not possible."""
    handle, temporary = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.resolve().parent)
    try:
        with os.fdopen(handle, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
                for name, path in files.items():
                    archive.write(path, name)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, out)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
