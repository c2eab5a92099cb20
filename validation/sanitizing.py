"""compute-sanitizer on one small case of a candidate and of the original, from the main process's side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skel.store.schema import Finding, Place

from .findings import finding
from .isolation import Workers
from .numerics.sanitizer import PROGRAM, TOOLS, here
from .subject import Subject


def sanitize(
    workers: Workers, subjects: dict[str, Subject], case: str, exchange: Path, device: str, seconds: float
) -> dict[str, list[Finding]]:
    """Findings by name of the subject. `original` is among them: what it does too is a warning in the others.

    Without the tool each gets the one finding that says so.
    """
    if not here():
        why = f"{PROGRAM} is not on the path"
        return {name: [_not_run(subject, device, " and ".join(TOOLS), why)] for name, subject in subjects.items()}
    events = {name: _run(workers, subject, case, exchange, device, seconds) for name, subject in subjects.items()}
    own = {tool for tool, errors, _ in events["original"] if errors}
    found: dict[str, list[Finding]] = {name: [] for name in subjects}
    for name, told in events.items():
        for tool, errors, failed in told:
            found[name] += [_not_run(subjects[name], device, tool, failed)] if failed else []
            for one in errors:
                place = Place(file=subjects[name].path, kernel=one["kernel"], line=one["line"])
                severity = "warning" if tool in own or name == "original" else "error"
                found[name].append(
                    finding("sanitizer_error", place, severity=severity, measured=f"{tool}, {device}", tool=tool,
                            what=name, error=one["what"])
                )
    return found


def _run(
    workers: Workers, subject: Subject, case: str, exchange: Path, device: str, seconds: float
) -> list[tuple[str, list[dict[str, Any]], str | None]]:
    payload = {
        "subject": subject.to_dict(), "case": case, "exchange": str(exchange), "device": device, "tools": list(TOOLS),
    }  # fmt: skip
    folder = workers.folder("sanitize")
    outcome = workers.submit("sanitize", payload, folder=folder, subject_file=subject.path, seconds=seconds).result()
    told = [(one["tool"], one["errors"], one["failed"]) for one in outcome.all("sanitized")]
    ended = "; ".join(fact["code"] for fact in outcome.facts("it")) or "it came to no end"
    return told + [(tool, [], ended) for tool in TOOLS if tool not in [one[0] for one in told]]


def _not_run(subject: Subject, device: str, tool: str, why: str) -> Finding:
    return finding("sanitizer_not_run", Place(file=subject.path), measured=device, tool=tool, why=why)
