"""What a piece of evidence is worth today. Pure: records in, words out."""

from collections.abc import Iterable

from .schema.evidence import Environment, Evidence, EvidenceStatus
from .schema.words import Verdict

_HELD = frozenset({Verdict.FASTER, Verdict.IMPROVED})
_FAILED = frozenset({Verdict.SLOWER, Verdict.NEUTRAL, Verdict.WRONG, Verdict.FAILED, Verdict.OVER_LIMITS})


def status_of(evidence: Evidence, now: Environment, sources: Iterable[str] = ()) -> EvidenceStatus:
    """`stale` where what it was measured with has changed, `reproduced` where the technique did what it is for on a
    kernel outside its `sources` (paths of files), `refuted` where it did not; else `hypothesis`: it shows neither."""
    if stale_because(evidence, now):
        return EvidenceStatus.STALE
    if evidence.verdict in _FAILED:
        return EvidenceStatus.REFUTED
    inside = evidence.file.rpartition(":")[2]  # a package's file has its distribution before it
    own = any(f"/{inside}".endswith(f"/{path}") for path in sources)
    if evidence.verdict in _HELD and not own:
        return EvidenceStatus.REPRODUCED
    return EvidenceStatus.HYPOTHESIS


def stale_because(evidence: Evidence, now: Environment) -> tuple[str, ...]:
    """What has changed since it was measured: Triton's version, and for what was timed driver and architecture.

    What is not known on either side has not changed.
    """
    was = evidence.environment
    pairs = [("triton", _minor(was.triton), _minor(now.triton))]
    if evidence.level == "timing":
        pairs += [("driver", was.driver, now.driver), ("architecture", was.architecture, now.architecture)]
    return tuple(f"{name} {old} is now {new}" for name, old, new in pairs if old and new and old != new)


def _minor(version: str | None) -> str | None:
    """`3.7.1` as `3.7`: patch releases change no code generation."""
    return ".".join(version.split(".")[:2]) if version else None
