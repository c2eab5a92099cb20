"""What was chosen at the measured workloads, with the launches that were recorded there: what a guard is made from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Choice:
    """What to run at one measured workload, and the launch that was recorded there from the original."""

    label: str
    variant: str | None
    """Name of a variant; None for the original."""
    grid: tuple[int, ...]
    constants: Mapping[str, int] = field(default_factory=dict)
    """Integer arguments and flags by kernel parameter."""
    dtypes: Mapping[str, str] = field(default_factory=dict)
    """Dtypes of tensor arguments by kernel parameter, as torch names them: `bfloat16`."""
    absent: frozenset[str] = frozenset()
    """Kernel parameters that were None."""


def choices_of(rows: Iterable[Mapping[str, Any]], kernel: str, variants: Collection[str]) -> list[Choice]:
    """A choice for every launch of `kernel` in the rows of a timing that is another than the one before.

    Raises KeyError or TypeError for rows of another form.
    """
    found: list[Choice] = []
    for row in rows:
        variant = row["chosen"] if row["chosen"] in variants else None
        for launch in (one for one in row["launches"] if one["kernel"] == kernel):
            absent = frozenset(launch.get("absent", ()))
            made = Choice(
                str(row["label"]), variant, tuple(launch["grid"]), launch["constants"], launch["dtypes"], absent
            )
            if made not in found:
                found.append(made)
    return found
