"""Scanning files and folders: which kernels use which skeletons, and which could."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from skel.faults import WrongUse
from skel.files import read_source
from skel.plain import plain
from skel.scan_cache import ScanCache

SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "build", "dist", "venv"})
"""Folders that hold no sources of one's own; hidden folders are skipped too, unless they are named."""
WORDS = ("triton", "cutlass", "tilelang", "helion")
"""Every file with a kernel, of Triton or of a language that is counted, holds one of these words."""
MAX_BYTES = 4_000_000
"""Larger files are data: the largest kernel file known has 200 kB."""
POOL_FROM = 24
"""Files with kernels from which more than one process pays for its start."""
MOST_WORKERS = 8
"""Processes at most: each takes about 200 MB."""


def python_files(paths: Iterable[str], lost: list[dict[str, str]] | None = None) -> list[Path]:
    """Every Python file named or found below a named folder, in a fixed order, each once. Links to folders are not
    followed below a named one; folders that cannot be read are added to `lost`, as `not_read` has them."""
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        for file in _below(path, lost if lost is not None else []) if path.is_dir() else [path]:
            found[file] = None
    return list(found)


def scan_files(
    files: Iterable[Path], cache: ScanCache | None = None, told: Callable[[int, int], None] = lambda done, of: None
) -> dict[str, Any]:
    """The document of a scan. A file that cannot be read is listed in `not_read` and ends nothing. `told` hears of each
    file with kernels that was not in the cache: how many are done, of how many.

    With a `cache`, a file whose text, and the texts of the helpers it calls, have been scanned before is not scanned
    again.
    """
    document: dict[str, Any] = {"files": [], "kernels": [], "findings": [], "not_read": [], "other_languages": {}}
    scanned: dict[Path, dict[str, Any] | None] = {}
    fresh: list[tuple[str, str]] = []
    for file in files:
        try:
            _check(file)
            source = read_source(file)
        except WrongUse as fault:
            scanned[file] = {"not_read": fault.what}
            continue
        scanned[file] = None
        if any(word in source.text for word in WORDS):
            scanned[file] = cache.get(str(file), source.text) if cache is not None else None
            if scanned[file] is None:
                fresh.append((str(file), source.text))
        else:
            scanned[file] = {}
    for number, ((path, text), result) in enumerate(zip(fresh, _scan_all(fresh), strict=True), start=1):
        scanned[Path(path)] = result
        told(number, len(fresh))
        if cache is not None:
            cache.put(path, text, result)
    languages: Counter[str] = Counter()
    for file, found in scanned.items():
        _add(document, found or {}, str(file))
        languages.update((found or {}).get("other_languages") or {})
    document["other_languages"] = dict(sorted(languages.items()))
    return document


def _check(file: Path) -> None:
    """Raises WrongUse for what would be waited for, or would fill the memory: pipes, devices, very large files."""
    try:
        status = file.stat()
    except OSError:
        return  # no file of its own: inside an archive, or gone; whoever reads it says so
    if file.suffix == ".ipynb":
        raise WrongUse(f"{file} is a notebook")
    if not stat.S_ISREG(status.st_mode):
        raise WrongUse(f"{file} is no regular file")
    if status.st_size > MAX_BYTES:
        raise WrongUse(f"{file} is larger than {MAX_BYTES // 1_000_000} MB")


def codes_in(document: dict[str, Any]) -> set[str]:
    """Every code in a scan's document, of findings and of refusals."""
    refusals = (r for kernel in document["kernels"] for found in kernel["opportunities"] for r in found["refusals"])
    return {entry["code"] for entry in (*document["findings"], *refusals)}


def workers() -> int:
    """Processors this process may use, up to a limit."""
    have = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(have, MOST_WORKERS))


def over_files(function: partial[Any], items: list[tuple[str, str]]) -> Iterator[Any]:
    """`function(path, text)` for every file, in order; several processes where there are many files."""
    if len(items) < POOL_FROM or workers() == 1:
        yield from (function(path, text) for path, text in items)
        return
    # Started afresh, not forked: the command line runs a thread for its progress message.
    with ProcessPoolExecutor(workers(), mp_context=get_context("spawn")) as pool:
        yield from pool.map(function, *zip(*items, strict=True), chunksize=4)


def _scan_all(items: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    return over_files(partial(scan_one), items)


def scan_one(path: str, text: str) -> dict[str, Any]:
    """The scan of one text as plain JSON types."""
    from skel.rewriter.engine import scan

    result: dict[str, Any] = plain(scan(text, path))
    return result


def _add(document: dict[str, Any], scanned: dict[str, Any], file: str) -> None:
    if scanned.get("not_read") is not None:
        document["not_read"].append({"file": file, "why": scanned["not_read"]})
        return
    document["files"].append(file)
    document["kernels"] += scanned.get("kernels", ())
    document["findings"] += scanned.get("findings", ())
    for why in dict.fromkeys(map(_why_not, scanned.get("faults") or ())):
        document["not_read"].append({"file": file, "why": why})


def _why_not(fault: dict[str, Any]) -> str:
    if fault.get("refused"):
        return f"{fault['kernel']}: {fault['refused']}"
    last = fault["traceback"].strip().splitlines()[-1]
    return f"{fault['kernel']}: a fault of ours while {fault['doing']}: {last}"


def _below(folder: Path, lost: list[dict[str, str]]) -> list[Path]:
    found = []

    def missed(error: OSError) -> None:
        place = str(Path(error.filename))
        lost.append({"file": place, "why": f"{place} cannot be read: {error.strerror}"})

    for current, folders, names in os.walk(folder, onerror=missed):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS and not name.startswith("."))
        found += [Path(current, name) for name in sorted(names) if name.endswith(".py")]
    return found
