"""What the compiler made of each version: registers, spills, shared memory, warps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skel.store.schema import Evidence

from .reading import number, part, text
from .workloads import Workload

MOST_REGISTERS = 255
"""Registers a thread can have, on every architecture skel compiles for with NVIDIA's tools."""


@dataclass(frozen=True, slots=True)
class Figures:
    """A version's figures over all workloads it was compiled for: the least and the most of each."""

    name: str
    chosen: bool
    registers: tuple[int, int] | None
    spill_bytes: tuple[int, int] | None
    shared_memory_bytes: tuple[int, int] | None
    warps: tuple[int, int] | None

    @property
    def register_percent(self) -> float:
        """The most registers as a share of what a thread can have."""
        return round(min(100.0, 100 * self.registers[1] / MOST_REGISTERS), 1) if self.registers else 0.0

    @property
    def spills(self) -> bool:
        return self.spill_bytes is not None and self.spill_bytes[1] > 0


_KEYS = ("registers", "spill_bytes", "shared_memory_bytes", "num_warps")


def compiled_of(evidence: Evidence, workloads: Iterable[Workload]) -> tuple[Figures, ...]:
    """One line a version: from the timing, else from the compile check."""
    found: dict[str, list[dict[str, float | None]]] = {}
    chosen: set[str] = set()
    for one in workloads:
        for version in one.versions:
            values = (version.registers, version.spill_bytes, version.shared_memory_bytes, version.warps)
            found.setdefault(version.title, []).append(dict(zip(_KEYS, values, strict=True)))
            chosen |= {version.title} if version.chosen else set()
    if not found:
        found = _from_compile(evidence)
    return tuple(_figures(name, entries, name in chosen) for name, entries in found.items() if _any(entries))


def _from_compile(evidence: Evidence) -> dict[str, list[dict[str, float | None]]]:
    """The figures of the original and of the candidate that was chosen."""
    found: dict[str, list[dict[str, float | None]]] = {}
    for key in ("original", "candidate"):
        if figures := part(evidence.compile, key):
            found.setdefault(text(figures, "name") or key, []).append({name: number(figures, name) for name in _KEYS})
    return found


def _any(entries: list[dict[str, float | None]]) -> bool:
    return any(value is not None for entry in entries for value in entry.values())


def _figures(name: str, entries: list[dict[str, float | None]], chosen: bool) -> Figures:
    return Figures(
        name, chosen, *(_ends(value for entry in entries if (value := entry[key]) is not None) for key in _KEYS)
    )


def _ends(values: Iterable[float]) -> tuple[int, int] | None:
    listed = [int(value) for value in values]
    return (min(listed), max(listed)) if listed else None


def span(ends: tuple[int, int] | None) -> str:
    """`96`, or `96 to 128` where it depends on the workload; a dash where it is not known."""
    if ends is None:
        return "–"
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
