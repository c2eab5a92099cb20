"""Runs again what evidence was measured on: the same skeleton, kernel and settings, in today's environment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skel.document import compile_evidence
from skel.faults import Fault
from skel.rerun import Needs, locate
from skel.store.schema import Environment, Evidence, Finding, Verdict

if TYPE_CHECKING:
    from skel.store.schema import Skeleton


@dataclass(frozen=True, slots=True)
class Again:
    """What came of one piece of evidence. `evidence` is the new one; without it `needs` says what was missing."""

    id: str
    before: Evidence
    evidence: Evidence | None = None
    needs: tuple[str, ...] = ()


def revalidate(key: str, before: Evidence, skeleton: Skeleton) -> Again:
    """Measures again. Nothing runs where anything that it takes is not here: `needs` names all of it."""
    from skel.apply import Job, apply

    found = locate(before)
    if isinstance(found, Needs):
        return Again(key, before, needs=found.sentences)
    settings = dict(before.settings)
    if "variants" in settings:
        settings = dict(before.rerun.settings) if before.rerun is not None else {}
    job = Job(
        skeleton=skeleton, file=found.file, text=found.text, kernel=before.kernel, settings=settings,
        bench=before.level == "timing", workload=found.sidecar,
    )
    try:
        result = apply(job)
    except Fault as fault:
        return Again(key, before, needs=(str(fault),))
    if result.bench is not None:
        from skel.validation.bench import evidence_of

        made = evidence_of(result.bench)
        return Again(key, before, made, () if made else ("the measurement was not finished",))
    if any(one["code"] == "no_workload" for one in result.document["findings"]):
        return Again(key, before, needs=(f"{before.file} has no hooks, and the evidence names no sidecar",))
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
