"""What was compared, and how it came out: cases by workload, errors against float64, the check's own check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skel.store.schema import Evidence

from .reading import named, number, part, plain, short, text


@dataclass(frozen=True, slots=True)
class Compared:
    """One workload, or one varied shape."""

    label: str
    kind: str
    verdict: str
    passed: int
    wrong: int
    not_counted: int
    seeds: str
    errors: tuple[tuple[str, str, str], ...]
    """Output, RMS error of the candidate, and of the original, against float64."""


@dataclass(frozen=True, slots=True)
class NumericsView:
    """The comparisons, and facts on how they were made."""

    compared: tuple[Compared, ...]
    facts: tuple[tuple[str, str], ...]


def numerics_of(evidence: Evidence) -> NumericsView:
    """Both parts may be empty: a timing stores what was compared before it only in short."""
    compared = tuple(_compared(row) for row in evidence.workloads if "cases_passed" in row)
    return NumericsView(compared, tuple(_facts(evidence)))


def _compared(row: dict[str, Any]) -> Compared:
    return Compared(
        label=text(row, "label") or "unnamed",
        kind=text(row, "kind"),
        verdict=text(row, "verdict"),
        passed=_count(row, "cases_passed"),
        wrong=_count(row, "cases_wrong"),
        not_counted=_count(row, "cases_not_counted"),
        seeds=plain(row.get("seeds")),
        errors=tuple(
            (name, _error(one, "candidate"), _error(one, "original")) for name, one in named(row.get("errors")).items()
        ),
    )


def _count(row: dict[str, Any], key: str) -> int:
    return int(number(row, key) or 0)


def _error(one: dict[str, Any], who: str) -> str:
    rms = number(one, f"{who}_rms_error")
    return "–" if rms is None else short(rms)


def _facts(evidence: Evidence) -> list[tuple[str, str]]:
    stored, found = evidence.numerics, []
    for key, title in (
        ("class", "numerics class"),
        ("device", "compared on"),
        ("has_reference", "float64 reference"),
        ("shapes_skipped", "shapes the original rejects"),
    ):
        if key in stored:
            found.append((title, text(stored, key)))
    sentinels = part(stored, "sentinels")
    if sentinels:
        said = f"{text(sentinels, 'rejected')} of {text(sentinels, 'tried')} deliberately wrong outputs rejected"
        found.append(("the check's own check", said))
    references = [one for row in evidence.workloads if (one := part(row, "reference"))]
    if references:
        held = sum(one.get("compared") is True for one in references)
        found.append(("held against float64 before and after timing", f"{held} of {len(references)} workloads"))
    seeds = evidence.timing.get("seeds")
    if isinstance(seeds, dict):
        found.append(
            ("seeds", plain(sorted({plain(one) for many in seeds.values() if isinstance(many, list) for one in many})))
        )
    return found
