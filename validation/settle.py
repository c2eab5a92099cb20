"""Asks the original whether its outputs depend on a memory in which a candidate differs: two more workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skel.store.schema import Finding, Place

from .findings import from_fact
from .isolation import Workers

Facts = dict[str, list[dict[str, Any]]]


def values_folder(workers: Workers) -> Path:
    """Where a candidate's judge puts the values that the original is to be run with; a worker may read it."""
    folder = workers.folder("values")
    folder.chmod(0o755)
    return folder


def settle(
    workers: Workers,
    judging: dict[str, Any],
    subject: dict[str, Any],
    questions: list[dict[str, Any]],
    values: Path,
    cases: dict[str, dict[str, Any]],
    seconds: float,
    place: Place,
    measured: str,
) -> tuple[Facts, list[Finding]]:
    """By workload, what the outputs say nothing of and the candidate has otherwise; and why nothing could be asked."""
    folder = workers.folder("substitute")
    (folder / "out").mkdir()
    asked = [question | {"case": cases[question["case"]]} for question in questions]
    payload = judging | {"subject": subject, "out": str(folder / "out"), "questions": asked, "values": str(values)}
    outcome = workers.submit("substitute", payload, folder=folder, subject_file=place.file, seconds=seconds).result()
    judged = workers.submit(
        "judge_substitute",
        judging | {"own": str(folder / "out"), "questions": asked, "substituted": outcome.all("substituted")},
        folder=workers.folder("judge"),
        seconds=seconds,
        trusted=True,
    ).result()
    facts = [f for one in (outcome, judged) for f in one.facts("the original, asked what its outputs depend on")]
    problems = [from_fact(fact | {"severity": "warning"}, place, measured) for fact in facts]
    return judged.result.get("findings", {}), problems
