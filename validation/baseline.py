"""What the original's run gave, which every candidate is held against."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skel.store.schema import Finding, Place

from .findings import finding, from_fact
from .numerics.cases import Case
from .verdicts import thin


@dataclass(slots=True)
class Base:
    """What the original's run gave: the cases, which of them ran, and what is known of the original itself."""

    file: str
    measured: str
    folder: Path
    exchange: Path
    cases: list[Case] = field(default_factory=list)
    runs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By case id: the facts of each run."""
    rejected: dict[str, str] = field(default_factory=dict)
    """By case id: why the original cannot take it."""
    agrees: dict[str, list[str]] = field(default_factory=dict)
    by_workload: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    sentinels: dict[str, int] = field(default_factory=lambda: {"tried": 0, "rejected": 0})
    has_reference: bool = False
    launches_own_kernels: bool = False
    kernels: bool = False
    """True where its file holds kernels."""
    scratch: tuple[str, ...] = ()
    """Inputs and kernel parameters whose last contents are not compared, where the original changes them too."""
    of_model: bool = False
    """True where it is a plain model, which a rewriting with kernels is held against."""
    from_kernels: dict[str, list[str]] = field(default_factory=dict)
    """By case id: outputs and inputs that hold what a launch wrote."""
    undone: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By case id: the run without what the launches write."""
    depends: dict[str, list[str]] = field(default_factory=dict)
    """By case id: outputs and inputs that the launches compute."""
    usable: bool = False
    """True where every declared case of the original ran."""
    probed: list[dict[str, Any]] = field(default_factory=list)
    """Probes that were run on the original."""
    probes: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By `CASE.KIND`: what is wrong with them."""
    changed: list[str] = field(default_factory=list)
    """Names of libraries that the original itself replaced."""
    settings: set[tuple[str, str]] = field(default_factory=set)
    """Settings of the process that it left changed: name, and what it left."""
    problems: list[Finding] = field(default_factory=list)

    def skipped_shapes(self) -> list[Case]:
        return [
            case
            for case in self.cases
            if case.kind == "shape" and (case.id in self.rejected or case.id not in self.runs)
        ]

    def counted(self) -> set[str]:
        """Ids of the cases that count for a candidate."""
        return {case.id for case in self.cases if case.id in self.runs and case.id not in self.rejected}

    def findings(self) -> list[Finding]:
        """Everything about the original and the way of checking."""
        place = Place(file=self.file)
        found = list(self.problems)
        found += [
            from_fact(fact, Place(file=self.file, workload=workload), self.measured)
            for workload, facts in self.by_workload.items()
            for fact in facts
        ]
        if self.usable and (skipped := self.skipped_shapes()):
            found.append(
                finding(
                    "shape_variation_skipped",
                    place,
                    measured=self.measured,
                    count=len(skipped),
                    shapes=[case.parameters for case in skipped],
                )
            )
        stressed = [case for case in self.cases if case.kind == "stress" and case.id not in self.counted()]
        if self.usable and stressed:
            found.append(
                finding(
                    "case_not_judged",
                    place,
                    measured=self.measured,
                    count=len(stressed),
                    cases=[case.label for case in stressed],
                )
            )
        if self.measured == "interpreter" and self.usable:
            found.append(finding("interpreter_only", place, measured=self.measured))
        return thin(found)
