"""Runs again what evidence was measured on: the same skeleton, kernel and settings, in today's environment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skel.document import compile_evidence
from skel.files import read_source
from skel.gpu import gpu_names
from skel.store.schema import Environment, Evidence, Finding, Verdict

if TYPE_CHECKING:
    from skel.store.schema import Skeleton


@dataclass(frozen=True, slots=True)
class Again:
    """What came of one piece of evidence. `evidence` is the new one; without it `why` says what was missing."""

    id: str
    before: Evidence
    evidence: Evidence | None = None
    why: str | None = None


def revalidate(key: str, before: Evidence, skeleton: Skeleton) -> Again:
    """Measures again. Nothing runs where the kernel's file is not here as it was, or what was timed has no GPU here.

    Raises MissingHere without torch or triton.
    """
    from skel.apply import Job, apply
    from skel.store.canonical import sha256

    path = Path(before.file)
    if not path.is_file():
        return Again(key, before, why=f"{before.file} is not here")
    source = read_source(path)
    if sha256(source.text) != before.source_sha256:
        return Again(key, before, why=f"{before.file} is another text now")
    timed = before.level == "timing"
    if timed and not gpu_names():
        return Again(key, before, why="there is no GPU here")
    settings = {} if "variants" in before.settings else dict(before.settings)
    result = apply(
        Job(skeleton=skeleton, file=before.file, text=source.text, kernel=before.kernel, settings=settings, bench=timed)
    )
    if result.bench is not None:
        from skel.validation.bench import evidence_of

        made = evidence_of(result.bench)
        return Again(key, before, made, None if made else "the measurement was not finished")
    return Again(key, before, _of_document(before, result.verdict, result.document))


def _of_document(before: Evidence, verdict: Verdict, document: dict[str, Any]) -> Evidence:
    """Evidence of the same thing from a document of `apply` without timing."""
    numerics = document["numerics"]
    checked = numerics["candidates"][0]["workloads"] if numerics and numerics["candidates"] else ()
    level = "numerics" if numerics else "compile"
    return Evidence.model_validate(
        before.model_dump()
        | {
            "level": level,
            "verdict": verdict,
            "workloads": tuple(checked),
            "compile": compile_evidence(document),
            "numerics": {name: value for name, value in (numerics or {}).items() if name != "candidates"},
            "timing": {},
            "findings": tuple(Finding.model_validate(one) for one in document["findings"][:40]),
            "environment": Environment.model_validate(document["environment"]),
            "measured_at": datetime.now(UTC),
        }
    )
