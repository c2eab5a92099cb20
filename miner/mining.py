"""Mining a source's code: every kernel into the database, whole or not at all."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skel.store.database import Database
from skel.store.mined import FoundKernel, FoundTechnique, SourceFacts, mined_state, store_mined

from .cached import MinedCache, key_of, miner_version
from .code.model import MinedFile, MinedKernel
from .code.python_file import may_hold_kernels, mine_python
from .cuda.mining import SUFFIXES, mine_cuda
from .errors import SourceError
from .pool import in_processes
from .sources import Source

Progress = Callable[[int, int], None]
"""Called with the files that are done, and how many there are."""
_BATCH_BYTES = 120_000
"""About as much text goes to a process at a time."""


@dataclass(frozen=True, slots=True)
class Mined:
    """What came of one source."""

    name: str
    kind: str
    repository: str | None
    revision: str
    licence: str
    state: str
    """`mined`, or `unchanged` where this revision was mined before."""
    summary: dict[str, Any]


def mine(source: Source, database: Database, progress: Progress | None = None, jobs: int | None = None) -> Mined:
    """Mine a source at its revision, unless that was done before. Raises SourceError and StoreError, with nothing kept.

    A run that is ended goes on where it stopped, since what was read of each file is kept in the user's cache.
    """
    facts = SourceFacts(source.name, source.kind, source.entry.repository, source.entry.where, source.revision,
                        source.licence, _fingerprint(source))  # fmt: skip
    if mined_state(database, source.name) == (facts.revision, facts.fingerprint):
        return _result(facts, "unchanged", {})
    files = read_code(source, progress, jobs)
    kernels = [kernel for file in files for kernel in file.kernels]
    if not kernels:
        seen = sum((Counter(f.other_languages) for f in files), Counter[str]())
        also = f" ({', '.join(f'{n} {language}' for language, n in seen.items())} seen, not mined)" if seen else ""
        raise SourceError(f"holds no kernels{also}", f"{source.name} {source.revision}",
                          "check the globs of its entry, and that its kernels are Triton or CUDA")  # fmt: skip
    summary = _summary(files)
    found = [_found(kernel) for kernel in kernels]
    techniques = store_mined(database, facts, found, summary, datetime.now(UTC).isoformat(timespec="seconds"))
    return _result(facts, "mined", {**summary, "techniques": techniques})


def read_code(source: Source, progress: Progress | None = None, jobs: int | None = None) -> list[MinedFile]:
    """What the source's files hold, by path. Files without a kernel are left out. Raises SourceError."""
    root = source.root.resolve()
    cache = MinedCache(root)
    python: list[tuple[str, bytes, str]] = []
    cuda: list[tuple[str, bytes]] = []
    done: list[MinedFile] = []
    for path, data in source.files():
        if path.endswith(SUFFIXES):
            cuda.append((path, data))
        elif path.endswith(".py") and may_hold_kernels(data):
            key = key_of("python", path, data)
            kept = cache.get(key)
            if kept is None:
                python.append((path, data, key))
            else:
                done += kept
    tasks: list[tuple[Any, ...]] = []
    keys: list[list[str]] = []
    if cuda:
        key = key_of("cuda", *(part for path, data in cuda for part in (path, data)))
        kept = cache.get(key)
        if kept is None:
            tasks.append(("cuda", cuda, str(root)))  # the longest task, so it begins first
            keys.append([key])
        else:
            done += kept
    for batch in _batches(python):
        tasks.append(("python", [(path, data) for path, data, _ in batch], str(root)))
        keys.append([key for _, _, key in batch])
    total = len(done) + len(python) + (len(cuda) if tasks and tasks[0][0] == "cuda" else 0)
    for number, results in in_processes(read_files, tasks, jobs):
        relative = [cache.relative(file) for file in results]
        if tasks[number][0] == "cuda":
            cache.put(keys[number][0], relative)
        else:
            for key, file in zip(keys[number], relative, strict=True):
                cache.put(key, [file])
        done += relative
        if progress is not None:
            progress(len(done), total)
    return sorted(done, key=lambda file: file.path)


def read_files(kind: str, files: list[tuple[str, bytes]], root: str) -> list[MinedFile]:
    """The files of one task, in order; runs in a process of its own."""
    if kind == "cuda":
        return mine_cuda(files)
    return [mine_python(data, path, str(Path(root) / path)) for path, data in files]


def _batches(files: list[tuple[str, bytes, str]]) -> list[list[tuple[str, bytes, str]]]:
    """Large files first and alone, small ones together."""
    batches: list[list[tuple[str, bytes, str]]] = []
    size = _BATCH_BYTES
    for file in sorted(files, key=lambda f: (-len(f[1]), f[0])):
        if size + len(file[1]) > _BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(file)
        size += len(file[1])
    return batches


def _fingerprint(source: Source) -> str:
    entry = source.entry
    about = repr((miner_version(), entry.kernels, entry.excluded, entry.repository, source.licence))
    return hashlib.sha256(about.encode()).hexdigest()


def _summary(files: list[MinedFile]) -> dict[str, Any]:
    kernels = [kernel for file in files for kernel in file.kernels]
    others: Counter[str] = sum((Counter(f.other_languages) for f in files), Counter[str]())
    return {
        "files": len(files),
        "kernels": len(kernels),
        "languages": dict(sorted(Counter(k.language for k in kernels).items())),
        "copies": len(kernels) - len({k.digest for k in kernels}),
        "conditions": dict(sorted(Counter(c.kind for k in kernels for c in k.conditions).items())),
        "other_languages": dict(sorted(others.items())),
        "not_read": [{"file": f.path, "why": f.not_read} for f in files if f.not_read is not None],
        "faults": [{"file": f.path, "what": fault} for f in files for fault in f.faults],
    }


def _found(kernel: MinedKernel) -> FoundKernel:
    techniques = tuple(
        FoundTechnique(o.technique, o.role, o.line, o.why, o.applicable, o.refusals) for o in kernel.occurrences
    )
    return FoundKernel(
        kernel.path, kernel.name, kernel.line, kernel.end_line, kernel.language, kernel.digest, kernel.resources,
        [asdict(c) for c in kernel.conditions], techniques,
    )  # fmt: skip


def _result(facts: SourceFacts, state: str, summary: dict[str, Any]) -> Mined:
    return Mined(facts.name, facts.kind, facts.repository, facts.revision, facts.licence, state, summary)
