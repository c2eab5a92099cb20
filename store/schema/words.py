"""The closed vocabularies of the project: verdicts, numerics classes, kinds, purposes, store classes."""

from enum import StrEnum


class NumericsClass(StrEnum):
    """How far a rewrite may move a result, weakest change first. The order is the lattice's order."""

    BITWISE = "bitwise"
    REASSOCIATED = "reassociated"
    CONTRACTED = "contracted"
    APPROXIMATE = "approximate"
    DTYPE_CHANGED = "dtype_changed"

    @property
    def rank(self) -> int:
        return list(NumericsClass).index(self)

    def join(self, other: "NumericsClass") -> "NumericsClass":  # type: ignore[override]
        """The weaker guarantee of the two: the class of doing both."""
        return max(self, other, key=lambda c: c.rank)


class Verdict(StrEnum):
    """The one-word outcome of applying, checking or benchmarking."""

    FASTER = "faster"
    NEUTRAL = "neutral"
    SLOWER = "slower"
    INCONCLUSIVE = "inconclusive"
    IMPROVED = "improved"
    EQUIVALENT = "equivalent"
    COMPILED = "compiled"
    WRONG = "wrong"
    OVER_LIMITS = "over_limits"
    NOT_APPLICABLE = "not_applicable"
    FAILED = "failed"

    @property
    def is_success(self) -> bool:
        """True where the command exits with status 0 and the rewritten file is written."""
        return self in _SUCCESS


_SUCCESS = frozenset({Verdict.FASTER, Verdict.NEUTRAL, Verdict.IMPROVED, Verdict.EQUIVALENT, Verdict.COMPILED})


class Kind(StrEnum):
    """Where a technique acts."""

    LOCAL = "local"
    STRUCTURAL = "structural"
    HOST = "host"
    TEMPLATE = "template"


class Purpose(StrEnum):
    """What a technique is for; `improved` is the success of every purpose but speed."""

    SPEED = "speed"
    ACCURACY = "accuracy"
    SAFETY = "safety"
    PORTING = "porting"


class ExitStatus:
    """The command contract's exit statuses."""

    OK = 0
    BAD_VERDICT = 1
    WRONG_USE = 2
    OUR_FAULT = 3
    MISSING_HERE = 4
