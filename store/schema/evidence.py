"""Evidence: what was measured here, good or bad, with the environment it was measured in."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from .base import Record
from .finding import Finding
from .words import Verdict


class EvidenceStatus(StrEnum):
    """What a piece of evidence is worth today."""

    HYPOTHESIS = "hypothesis"
    REPRODUCED = "reproduced"
    REFUTED = "refuted"
    STALE = "stale"


class Environment(Record):
    """Where something was measured. Absent fields were not known there."""

    device: str
    """For example `NVIDIA H200`, `cpu (interpreter)`."""
    architecture: str | None = None
    """For example `sm_90`."""
    driver: str | None = None
    cuda: str | None = None
    torch: str | None = None
    triton: str | None = None
    python: str | None = None
    skel: str | None = None
    """Version of skel."""
    clock_mhz: float | None = None
    power_watts: float | None = None
    multiprocessors: int | None = None
    l2_bytes: int | None = None


class Rerun(Record):
    """What it takes to run a piece of evidence again, besides its environment."""

    package: str | None = None
    """`DISTRIBUTION==VERSION` whose file it is; absent for a file of one's own."""
    path: str
    """The file: its place in the package, else its path as the user gave it."""
    sidecar: str | None = None
    """The file with the hooks, relative to where it was run, or its name where it lay elsewhere."""
    sidecar_sha256: str | None = None
    """Hash of the sidecar's text."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Decisions that were pinned beforehand; those that were taken are the evidence's own `settings`."""


class Evidence(Record):
    """One append-only piece of evidence on one kernel. Identified by the hash of its content."""

    skeleton: str
    kernel: str
    """Name of the kernel that was judged."""
    file: str
    """Path of the kernel's file as the user gave it; of a package's file `DISTRIBUTION==VERSION:PATH`."""
    source_sha256: str
    """Hash of the original file's text."""
    candidate_sha256: str | None = None
    """Hash of the rewritten file's text."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """The decisions taken: tile, tiles per program, form, warps, ..."""
    level: Literal["compile", "numerics", "timing"]
    verdict: Verdict
    workloads: tuple[dict[str, Any], ...] = ()
    """One entry a workload: label, parameters, verdict, ratio with interval, times, fractions of the floor."""
    compile: dict[str, Any] = Field(default_factory=dict)
    numerics: dict[str, Any] = Field(default_factory=dict)
    timing: dict[str, Any] = Field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    environment: Environment
    measured_at: datetime
    protocol: dict[str, Any] = Field(default_factory=dict)
    """Every number of the protocol in force when this was measured."""
    rerun: Rerun | None = None
    """Absent where it was not kept: `skel revalidate` then looks for what is needed by the name of the file."""
