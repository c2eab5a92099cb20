"""Sections of docs/measurements.md whose data is a committed file of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def section_of(path: Path, lines: Callable[[dict[str, Any]], Iterable[str]]) -> list[str]:
    """`lines` of the JSON document at `path`; empty where there is none, as nothing was measured."""
    return list(lines(json.loads(path.read_text(encoding="utf-8")))) if path.exists() else []
