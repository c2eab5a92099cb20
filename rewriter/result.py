"""What applying gives back: Applied, Refused or Bug. Applying never raises on a user's kernel."""

from __future__ import annotations

from dataclasses import dataclass, field

from skel.store.schema import Finding, NumericsClass, Refusal


@dataclass(frozen=True, slots=True)
class Applied:
    """The rewrite was made; `text` is the whole new source of the file."""

    text: str
    numerics: NumericsClass
    findings: tuple[Finding, ...] = ()
    settings: dict[str, object] = field(default_factory=dict)
    """The decisions taken."""


@dataclass(frozen=True, slots=True)
class Refused:
    """It does not apply; nothing was changed. At least one refusal."""

    refusals: tuple[Refusal, ...]
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        if not self.refusals:
            raise ValueError("a refusal needs a reason")


@dataclass(frozen=True, slots=True)
class Bug:
    """Our own fault: what was being done, and the traceback, for a report. Nothing was changed."""

    doing: str
    traceback: str


Result = Applied | Refused | Bug
