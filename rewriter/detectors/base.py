"""What a detector is: the two questions that a scan asks of a kernel about one technique."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .view import KernelView


@dataclass(frozen=True, slots=True, order=True)
class Seen:
    """One place that answers: its line, and why in words."""

    line: int
    why: str


Question = Callable[[KernelView], list[Seen]]


def never(view: KernelView) -> list[Seen]:
    """The answer of a technique that has no such sign in the source of one kernel."""
    return []


@dataclass(frozen=True, slots=True)
class Detector:
    """The signs of one technique. `skeleton` is the name of its record."""

    skeleton: str
    uses: Question = never
    """Places that show that the kernel has it already."""
    opportunities: Question = never
    """Places that show the symptom it cures; nothing where a near look rules it out."""


def merged(places: list[Seen]) -> Seen | None:
    """All places as one entry: the first line, with the other lines in the reason. None where there is none."""
    found = sorted(set(places))
    if not found:
        return None
    rest = list(dict.fromkeys(s.line for s in found if s.line != found[0].line))
    if not rest:
        return found[0]
    more = ", ".join(map(str, rest[:6])) + (", ..." if len(rest) > 6 else "")
    return Seen(found[0].line, f"{found[0].why} (also line{'s' if len(rest) > 1 else ''} {more})")
