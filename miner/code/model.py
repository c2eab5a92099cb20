"""What was found in one kernel, as plain data that travels between processes and into a cache."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["uses", "could_use", "hazard"]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One technique at one kernel."""

    technique: str
    """Name of the skeleton."""
    role: Role
    """`uses` it, `could_use` it, or shows the `hazard` that it names."""
    line: int
    why: str
    applicable: bool | None = None
    """Of `could_use`: True, False with refusals, None for advice."""
    refusals: tuple[str, ...] = ()
    """Codes of what stands against it."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that the authors wrote round a kernel about when it works, or works well."""

    kind: Literal["assert", "heuristic", "guard", "dispatch", "prune", "bound", "comment"]
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class MinedKernel:
    """One kernel at one place."""

    path: str
    name: str
    line: int
    end_line: int
    language: Literal["triton", "cuda", "host"]
    digest: str
    """Hash of its code without names of its own, formatting, comments and decorators: equal for vendored copies."""
    resources: dict[str, Any] = field(default_factory=dict)
    """Tiles, warps, stages, configurations, launches: what the source says of them."""
    conditions: tuple[Condition, ...] = ()
    occurrences: tuple[Occurrence, ...] = ()


@dataclass(frozen=True, slots=True)
class MinedFile:
    """One file."""

    path: str
    kernels: tuple[MinedKernel, ...] = ()
    not_read: str | None = None
    """Why it could not be read."""
    faults: tuple[str, ...] = ()
    """What of ours failed on one of its kernels."""
    other_languages: dict[str, int] = field(default_factory=dict)
    """Kernels in languages that are seen and not mined."""
    reads: tuple[tuple[str, str, str | None], ...] = ()
    """Imports looked up: the asking file, the name, and the file that holds it; paths within the source."""
