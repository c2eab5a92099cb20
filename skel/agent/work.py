"""What the body of a job gets, and what it hands back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skel.store.schema import Finding, Refusal

if TYPE_CHECKING:
    from pathlib import Path

    from skel.store.database import Database

    from .roots import Roots


@dataclass(slots=True)
class Work:
    """A job being done, in its own process."""

    database: Database
    roots: Roots
    job: str
    scratch: Path
    """A folder for its files, removed afterwards."""
    report: Callable[[str, str], None]
    """Says which step was done, and what came of it."""

    def step(self, name: str, figures: dict[str, Any]) -> None:
        """Progress as the validator tells it."""
        self.report(name, ", ".join(f"{key} {value}" for key, value in figures.items()))


@dataclass(slots=True)
class Worked:
    """What came of a job."""

    summary: str
    result: Any
    """The result of the tool's output type, in plain JSON types."""
    verdict: str | None = None
    refusals: list[dict[str, Any]] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    next: list[dict[str, Any]] = field(default_factory=list)
    report: dict[str, Any] | None = None
    """The whole document, had by reference."""
    diff: str | None = None
    text: str | None = None
    """The rewritten file."""

    def to_dict(self) -> dict[str, Any]:
        """Everything but the text, which has its own place in the database."""
        parts = [name for name in ("report", "diff", "text") if getattr(self, name) is not None]
        return {
            "summary": self.summary,
            "result": self.result,
            "verdict": self.verdict,
            "refusals": self.refusals,
            "findings": self.findings,
            "next": self.next,
            "report": self.report,
            "diff": self.diff,
            "parts": parts,
        }


def dump(findings: list[Finding] | tuple[Finding, ...]) -> list[dict[str, Any]]:
    """Findings in plain JSON types."""
    return [one.model_dump(mode="json") for one in findings]


def dump_refusals(refusals: tuple[Refusal, ...]) -> list[dict[str, Any]]:
    """Refusals in plain JSON types."""
    return [one.model_dump(mode="json") for one in refusals]


def follow(tool: str, why: str, **arguments: Any) -> dict[str, Any]:
    """A call to try next."""
    return {"tool": tool, "arguments": arguments, "why": why}
