"""A plan: everything that a machine with a GPU needs to time candidates, as one JSON file."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..protocol import Protocol
from ..subject import Subject, sha256
from .names import RESERVED


class PlanError(Exception):
    """The file is no plan that this version of skel can read."""


@dataclass(frozen=True, slots=True)
class PlanCandidate:
    """One rewritten file. `settings` are the decisions taken, repeated in the report."""

    name: str
    text: str
    settings: dict[str, Any] = field(default_factory=dict)
    exact: bool = False
    """True where the results must be equal to the bit."""

    @property
    def sha256(self) -> str:
        return sha256(self.text)

    @property
    def is_widened(self) -> bool:
        """True where the tile was only made wider."""
        return self.settings.get("form") == "widen"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is timed: the original with its hooks, the kernel (all that `run` launches where None), the candidates.

    Raises PlanError for a candidate with another's name, or one that samples of the original are kept under.
    """

    subject: Subject
    kernel: str | None
    candidates: tuple[PlanCandidate, ...]
    skeleton: str | None = None
    numbers: Protocol = field(default_factory=Protocol)
    pinned: dict[str, Any] = field(default_factory=dict)
    """Decisions that were pinned when the candidates were made: kept in the evidence, to make them again."""

    def __post_init__(self) -> None:
        names = [one.name for one in self.candidates]
        if taken := {name for name in names if name in RESERVED or names.count(name) > 1}:
            raise PlanError(f"no candidate may be called {min(taken)!r}: another is")

    def candidate(self, name: str) -> PlanCandidate:
        """Raises KeyError for an unknown name."""
        for one in self.candidates:
            if one.name == name:
                return one
        raise KeyError(name)

    @property
    def id(self) -> str:
        """Hash of what is timed: figures of one plan are never taken for those of another.

        The protocol's numbers are not in it, so that a plan outlives a number that a later version adds.
        """
        data = asdict(replace(self, numbers=Protocol())) | {"numbers": None}
        del data["pinned"]  # what is timed are the candidates, however they were made
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]

    def to_json(self) -> str:
        data = asdict(self) | {"numbers": self.numbers.to_dict(), "subject": self.subject.to_dict()}
        return json.dumps(data, indent=1, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """The inverse of `to_json`. Raises PlanError."""
        try:
            data = json.loads(text)
            candidates = tuple(PlanCandidate(**one) for one in data["candidates"])
            numbers = Protocol.from_dict(data["numbers"])
            subject = Subject.from_dict(data["subject"])
            return cls(
                subject, data["kernel"], candidates, data["skeleton"], numbers, dict(data.get("pinned", {}))
            )
        except (PlanError, ValueError, KeyError, TypeError) as error:
            raise PlanError(f"this is no plan: {error}") from error


def read_plan(path: Path) -> Plan:
    """Raises PlanError where the file is none, OSError where it cannot be read."""
    return Plan.from_json(path.read_text(encoding="utf-8"))
