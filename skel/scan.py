"""Scanning files and folders: which kernels use which skeletons, and which could."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skel.faults import WrongUse
from skel.files import read_source
from skel.plain import plain

if TYPE_CHECKING:
    from skel.rewriter.engine import FileScan

SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "build", "dist", "venv"})
"""Folders that hold no sources of one's own; hidden folders are skipped too, unless they are named."""


def python_files(paths: Iterable[str]) -> list[Path]:
    """Every Python file named or found below a named folder, in a fixed order, each once."""
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        for file in _below(path) if path.is_dir() else [path]:
            found[file] = None
    return list(found)


def scan_files(files: Iterable[Path]) -> dict[str, Any]:
    """The document of a scan. A file that cannot be read is listed in `not_read` and ends nothing."""
    from skel.rewriter.engine import scan

    document: dict[str, Any] = {"files": [], "kernels": [], "findings": [], "not_read": []}
    for file in files:
        try:
            source = read_source(file)
        except WrongUse as fault:
            document["not_read"].append({"file": str(file), "why": fault.what})
            continue
        # Most files of a library hold no kernel; the word is in every one that does.
        if "triton" not in source.text:
            document["files"].append(str(file))
            continue
        _add(document, scan(source.text, str(file)), str(file))
    return document


def codes_in(document: dict[str, Any]) -> set[str]:
    """Every code in a scan's document, of findings and of refusals."""
    refusals = (r for kernel in document["kernels"] for found in kernel["opportunities"] for r in found["refusals"])
    return {entry["code"] for entry in (*document["findings"], *refusals)}


def _add(document: dict[str, Any], result: FileScan, file: str) -> None:
    scanned = plain(result)
    if scanned["not_read"] is not None:
        document["not_read"].append({"file": file, "why": scanned["not_read"]})
        return
    document["files"].append(file)
    document["kernels"] += scanned["kernels"]
    document["findings"] += scanned["findings"]


def _below(folder: Path) -> list[Path]:
    found = []
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS and not name.startswith("."))
        found += [Path(current, name) for name in sorted(names) if name.endswith(".py")]
    return found
