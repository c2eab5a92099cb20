"""What has been measured so far, one JSON line each, written through at once: a run that is cut off loses nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .lines import Line, contradiction, fault, other_machine

FILE = "state.jsonl"


class StateError(Exception):
    """The state belongs to another plan, or was measured on another kind of machine."""


class State:
    """The state file of one plan in a folder. Lines are only ever added; of several on one thing the last counts."""

    def __init__(self, folder: Path, plan_id: str) -> None:
        self.path = folder / FILE
        folder.mkdir(parents=True, exist_ok=True)
        self.lines: list[Line] = list(_read(self.path))
        plans = [self.lines[0].get("plan"), *(line.get("plan") for line in self.all("plan"))] if self.lines else []
        for plan in plans:
            if plan != plan_id:
                raise StateError(f"{self.path} was measured for another plan ({plan}, not {plan_id})")
        for line in self.lines:
            self._require_sound(line)
        if why := contradiction(self.lines):
            raise StateError(f"{self.path} holds several measurements: {why}")
        if not self.lines:
            self.add("plan", plan=plan_id)

    def add(self, kind: str, **fields: Any) -> None:
        """Appends a line and waits until it is on the disk. Raises StateError for samples that are no times."""
        line = {"kind": kind, **fields}
        self._require_sound(line)
        with open(self.path, "a", encoding="utf-8") as file:
            # A line that was cut off is ended first, so that it damages no other.
            file.write(("\n" if _cut_off(self.path) else "") + json.dumps(line, separators=(",", ":")) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.lines.append(line)

    def all(self, kind: str) -> list[Line]:
        return [line for line in self.lines if line["kind"] == kind]

    def last(self, kind: str, **fields: Any) -> Line | None:
        """The last line of that kind whose fields have those values."""
        return next((line for line in reversed(self.lines) if _is(line, kind, fields)), None)

    @property
    def workloads(self) -> list[str]:
        """All labels, in the file's order; empty until a first task has listed them."""
        found = self.last("workloads")
        return list(found["labels"]) if found else []

    def require_same_machine(self, session: Line) -> None:
        """Raises StateError where a new session's device, versions or timer differ from those of the first."""
        first = next(iter(self.all("session")), None)
        if first is None:
            return
        if why := other_machine(session, first):
            raise StateError(f"{why}: begin a new one")

    def _require_sound(self, line: Line) -> None:
        if why := fault(line):
            of = ", ".join(str(line[key]) for key in ("workload", "candidate", "process") if key in line)
            raise StateError(f"{self.path}: nothing can be said from its line {line['kind']!r} of {of or 'all'}: {why}")


def _is(line: Line, kind: str, fields: dict[str, Any]) -> bool:
    return line["kind"] == kind and all(line.get(key) == value for key, value in fields.items())


def _read(path: Path) -> Iterator[Line]:
    """The lines that are whole."""
    if not path.exists():
        return
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue
        if isinstance(line, dict) and "kind" in line:
            yield line


def _cut_off(path: Path) -> bool:
    with open(path, "rb") as file:
        file.seek(0, os.SEEK_END)
        if file.tell() == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
