"""RMS errors against float64, pooled over seeds: taken per case, reordering alone fails one case in six."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...protocol import Correctness

if TYPE_CHECKING:
    import torch


@dataclass(slots=True)
class Pooled:
    """Sums of squares of one output over cases: errors of original and candidate, and the reference itself."""

    original: float = 0.0
    candidate: float = 0.0
    reference: float = 0.0
    elements: int = 0
    cases: int = 0

    def add(self, candidate: torch.Tensor, original: torch.Tensor, reference: torch.Tensor) -> None:
        """Adds a case; elements that are not finite in all three are left out."""
        import torch

        c, o, r = candidate.double(), original.double(), reference.double()
        kept = torch.isfinite(c) & torch.isfinite(o) & torch.isfinite(r)
        self.candidate += float((c - r)[kept].square().sum())
        self.original += float((o - r)[kept].square().sum())
        self.reference += float(r[kept].square().sum())
        self.elements += int(kept.sum())
        self.cases += 1

    def figures(self) -> dict[str, Any]:
        """RMS of each, and how many elements and cases went in."""
        count = max(self.elements, 1)
        return {
            "candidate_rms_error": (self.candidate / count) ** 0.5,
            "original_rms_error": (self.original / count) ** 0.5,
            "reference_rms": (self.reference / count) ** 0.5,
            "elements": self.elements,
            "cases": self.cases,
        }

    def grew(self, eps: float, numbers: Correctness) -> dict[str, Any] | None:
        """Both errors where the candidate's is over `error_growth` times the original's plus
        `error_growth_eps` * eps * RMS of the reference."""
        found = self.figures()
        allowed = (
            numbers.error_growth * found["original_rms_error"] + numbers.error_growth_eps * eps * found["reference_rms"]
        )
        if found["candidate_rms_error"] <= allowed:
            return None
        return {"candidate": found["candidate_rms_error"], "original": found["original_rms_error"]}
