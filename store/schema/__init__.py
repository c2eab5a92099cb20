"""The records: what a skeleton, a finding, a refusal and a piece of evidence are."""

from .base import Record
from .codes import CODES, Code
from .evidence import Environment, Evidence, EvidenceStatus, Rerun
from .finding import Finding, Place, Refusal
from .skeleton import (
    Case,
    Claim,
    Decision,
    Interactions,
    Limit,
    Numerics,
    Skeleton,
    Source,
    Step,
    Symptoms,
)
from .words import ExitStatus, Kind, NumericsClass, Purpose, Verdict

__all__ = [
    "CODES",
    "Case",
    "Claim",
    "Code",
    "Decision",
    "Environment",
    "Evidence",
    "EvidenceStatus",
    "ExitStatus",
    "Finding",
    "Interactions",
    "Kind",
    "Limit",
    "Numerics",
    "NumericsClass",
    "Place",
    "Purpose",
    "Record",
    "Refusal",
    "Rerun",
    "Skeleton",
    "Source",
    "Step",
    "Symptoms",
    "Verdict",
]
