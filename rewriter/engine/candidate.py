"""A candidate: a kernel after a schedule with its decisions filled in."""

from __future__ import annotations

from dataclasses import dataclass, field

from skel.store.schema import Finding, NumericsClass

Setting = str | int | float | bool
KEPT = "kept"
"""A decision that leaves things as they are: the step that takes it is left out."""


@dataclass(frozen=True)
class Candidate:
    """One way to apply a skeleton."""

    name: str
    """Short and unique among its candidates, from its settings."""
    text: str
    """The whole rewritten file."""
    settings: dict[str, Setting]
    numerics: NumericsClass
    rank: float
    """Lower is better: the static ranking where nothing was timed."""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Candidates:
    """All candidates of a skeleton on one kernel, best rank first."""

    kernel: str
    items: tuple[Candidate, ...]
    findings: tuple[Finding, ...] = field(default=())
    """Among them why some combinations were left out."""
