"""Findings, worst first, and where and how it was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skel.store.schema import Evidence, Finding

from .reading import get, number, part, plain, positive, rows, text

_SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Said:
    """Findings of one code: what they say, where, and what to do."""

    code: str
    severity: str
    messages: tuple[tuple[str, str], ...]
    """Message and place."""
    measured: str
    hint: str


@dataclass(frozen=True, slots=True)
class Table:
    """Names and values under a title."""

    title: str
    entries: tuple[tuple[str, str], ...]


def findings_of(evidence: Evidence) -> tuple[Said, ...]:
    """Findings by severity and code, in the order in which they were made."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for one in evidence.findings:
        groups.setdefault((one.severity, one.code), []).append(one)
    ordered = sorted(groups.items(), key=lambda pair: _rank(pair[0][0]))
    return tuple(
        Said(
            code,
            severity,
            tuple((one.message, _place(one)) for one in found),
            ", ".join(dict.fromkeys(one.measured for one in found if one.measured)),
            next((one.hint for one in found if one.hint), ""),
        )
        for (severity, code), found in ordered
    )


def environment_of(evidence: Evidence) -> Table:
    """Where it was measured; what was not known there is left out."""
    units = {"clock_mhz": "clock, MHz", "power_watts": "power, W", "l2_bytes": "L2 cache, bytes"}
    stored = evidence.environment.model_dump(mode="json", exclude_none=True)
    return Table("Where", tuple((units.get(key, key), plain(value)) for key, value in stored.items()))


def method_of(evidence: Evidence) -> Table:
    """How it was measured: timer, samples, clocks, bandwidths, hashes."""
    return Table("How", tuple((name, value) for name, value in _method(evidence) if value))


def protocol_of(evidence: Evidence) -> tuple[Table, ...]:
    """Every number of the protocol in force."""
    plain_ones = {key: value for key, value in evidence.protocol.items() if not isinstance(value, dict)}
    parts = {key: value for key, value in evidence.protocol.items() if isinstance(value, dict)}
    tables = [
        Table(key, tuple((str(name), plain(value)) for name, value in found.items())) for key, found in parts.items()
    ]
    if plain_ones:
        tables.insert(0, Table("general", tuple((key, plain(value)) for key, value in plain_ones.items())))
    return tuple(tables)


def _method(evidence: Evidence) -> Iterator[tuple[str, str]]:
    timing = evidence.timing
    yield "measured at", evidence.measured_at.isoformat(timespec="seconds")
    yield "level", evidence.level
    yield "timer", text(timing, "timer")
    yield "decided by", text(timing, "decided_by") and f"the {text(timing, 'decided_by')} L2 cache"
    samples = [
        int(n)
        for row in evidence.workloads
        for mode in ("cold", "warm")
        if (n := number(row, "samples", mode)) is not None
    ]
    yield "samples a version, workload and cache state", _span(samples)
    dropped = [int(n) for row in evidence.workloads if (n := number(row, "dropped")) is not None]
    yield "samples dropped for a low clock", str(sum(dropped)) if dropped else ""
    clocks = [one for pair in _pairs(timing.get("clocks")) for one in pair]
    for key, title in (
        ("clock_mhz", "clock while timing, MHz"),
        ("temperature_celsius", "temperature, °C"),
        ("power_watts", "power while timing, W"),
    ):
        values = [value for one in clocks if (value := number(one, key)) is not None]
        yield title, _span(values)
    for key, title in (("device_bytes_per_second", "device memory, TB/s"), ("l2_bytes_per_second", "L2, TB/s")):
        rate = positive(timing, "ceilings", key)
        yield title, f"{rate / 1e12:.2f}" if rate else ""
    yield "settings", plain({k: v for k, v in evidence.settings.items() if k != "variants"})
    for name, settings in part(evidence.settings, "variants").items():
        yield f"settings of {name}", plain(settings)
    yield "original, SHA-256", evidence.source_sha256[:16]
    yield "candidate, SHA-256", (evidence.candidate_sha256 or "")[:16]
    target = text(evidence.compile, "target")
    yield "compiled for", target


def _span(values: Sequence[float]) -> str:
    """The least and the most; one of them where they are equal, empty where there are none."""
    return " to ".join(plain(value) for value in sorted({min(values), max(values)})) if values else ""


def _pairs(value: object) -> Iterator[list[dict[str, object]]]:
    for one in value if isinstance(value, list | tuple) else ():
        yield rows(one)


def _place(finding: Finding) -> str:
    place = finding.place
    where = ":".join(str(part) for part in (place.file, place.line) if part is not None)
    rest = [place.axis, place.parameter, place.workload and f"on {place.workload}"]
    return ", ".join(part for part in (where, *rest) if part)


def _rank(severity: str) -> int:
    return _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)


def control_of(evidence: Evidence) -> str:
    """In one line whether the original timed against itself gave 1, as it must."""
    ends = [
        (low, high)
        for row in evidence.workloads
        if (low := positive(get(row, "control", "cold"), "low")) is not None
        and (high := positive(get(row, "control", "cold"), "high")) is not None
    ]
    if not ends:
        return ""
    low, high = min(one[0] for one in ends), max(one[1] for one in ends)
    return f"{low:.3f} to {high:.3f} over {len(ends)} workloads"
