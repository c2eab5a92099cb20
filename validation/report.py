"""What a check found: per workload, per candidate, and for the file."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from skel.store.schema import Environment, Finding, NumericsClass, Record, Verdict


class WorkloadVerdict(Record):
    """One workload (or one varied shape) of one candidate."""

    label: str
    kind: Literal["declared", "shape"] = "declared"
    parameters: dict[str, Any] = Field(default_factory=dict)
    verdict: Verdict
    cases_passed: int
    """Inputs (seed and value class) on which it passed."""
    cases_wrong: int
    cases_not_counted: int = 0
    """Stressed inputs on which the original itself fails or differs from its reference."""
    seeds: tuple[int, ...] = ()
    """The last one could not be known beforehand."""
    errors: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """By output: RMS error against float64 of candidate and original, pooled over seeds."""
    findings: tuple[Finding, ...] = ()


class CandidateCheck(Record):
    """One candidate on all workloads."""

    name: str
    source_sha256: str
    settings: dict[str, Any] = Field(default_factory=dict)
    verdict: Verdict
    """`equivalent`, `wrong`, `failed`, or `inconclusive` where nothing could be decided."""
    workloads: tuple[WorkloadVerdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    """Those that belong to no single workload."""
    ran: tuple[dict[str, Any], ...] = ()
    """What was launched: kernel, file (in its worker's folder), count of launches, hashes of the compiled binaries
    (none where kernels are interpreted)."""
    seconds: float = 0.0
    resident_megabytes: float = 0.0

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        return (*self.findings, *(f for workload in self.workloads for f in workload.findings))


class CheckReport(Record):
    """A numerics check of candidates against an original."""

    path: str
    original_sha256: str
    device: str
    numerics_class: NumericsClass
    has_reference: bool
    candidates: tuple[CandidateCheck, ...]
    findings: tuple[Finding, ...] = ()
    """About the original, its workloads, and the way of checking."""
    shapes_skipped: int = 0
    """Shape variations that the original itself rejects."""
    original_ran: tuple[dict[str, Any], ...] = ()
    """As `ran` of a candidate."""
    sentinels_tried: int = 0
    """Deliberately wrong outputs the comparison was tried with ..."""
    sentinels_rejected: int = 0
    """... and how many of them it rejected."""
    environment: Environment
    isolation: dict[str, Any] = Field(default_factory=dict)
    """Whether workers were without network and without privileges."""
    protocol: dict[str, Any] = Field(default_factory=dict)
    """Every number in force."""
    seconds: float = 0.0

    def numerics(self) -> dict[str, Any]:
        """The part of the command document called `numerics`: figures, no findings."""
        return {
            "device": self.device,
            "class": self.numerics_class.value,
            "has_reference": self.has_reference,
            "shapes_skipped": self.shapes_skipped,
            "sentinels": {"tried": self.sentinels_tried, "rejected": self.sentinels_rejected},
            "isolation": self.isolation,
            "ran": {"original": {"source_sha256": self.original_sha256, "kernels": list(self.original_ran)}}
            | {one.name: {"source_sha256": one.source_sha256, "kernels": list(one.ran)} for one in self.candidates},
            "candidates": [
                {
                    "name": one.name,
                    "verdict": one.verdict.value,
                    "workloads": [w.model_dump(mode="json", exclude={"findings"}) for w in one.workloads],
                }
                for one in self.candidates
            ],
        }
