"""Grid axes: a program id, or a part of a flattened one taken out with `//` and `%`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

UNKNOWN_ROOT = "?"
"""Root of an axis that may be any: what an unknown function may have read."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One grid axis.

    `root` is the program id's number (`"0"`), `steps` how the axis was decoded from it: `(("%", "NV"),)` is
    `pid % NV`. A raw program id has no steps.
    """

    root: str
    steps: tuple[tuple[str, str], ...] = ()

    def split(self, operator: str, divisor: str) -> Axis:
        """The part that `operator` (`%` or `//`) by `divisor` takes out of this axis."""
        return Axis(self.root, (*self.steps, (operator, divisor)))

    @property
    def span(self) -> tuple[str, ...]:
        """Factors of the number of values it takes; none where it is all that the steps leave of a program id."""
        return tuple((self._digits()[1] or Counter()).elements())

    def overlaps(self, other: Axis) -> bool:
        """True unless the two are provably independent.

        Read as mixed-radix digits of the program id, `(pid // D) % M` covers the digits from D to D*M. Two parts are
        independent where one ends before the other begins; different program ids are independent.
        """
        if UNKNOWN_ROOT in (self.root, other.root):
            return True
        if self.root != other.root:
            return False
        mine, theirs = self._digits(), other._digits()
        return not (_ends_before(mine, theirs) or _ends_before(theirs, mine))

    def _digits(self) -> tuple[Counter[str], Counter[str] | None]:
        """The factors (D, M) of `(pid // D) % M`; M is None without a `%`.

        A step that does not fit ends the reading: what follows is a function of the digits so far.
        """
        low: Counter[str] = Counter()
        span: Counter[str] | None = None
        for operator, divisor in self.steps:
            factors = Counter(_factors(divisor))
            if span is not None and not factors <= span:
                return low, span
            if operator == "%":
                span = factors
                continue
            low += factors
            if span is not None:
                span -= factors
        return low, span

    def __str__(self) -> str:
        text = f"program_id({self.root})"
        for operator, divisor in self.steps:
            text = f"({text} {operator} {divisor})"
        return text


def depends(axes: frozenset[Axis], axis: Axis) -> bool:
    """True where any of `axes` overlaps `axis`."""
    return any(a.overlaps(axis) for a in axes)


def _ends_before(a: tuple[Counter[str], Counter[str] | None], b: tuple[Counter[str], Counter[str] | None]) -> bool:
    """True where the digits of `a` all lie below those of `b`."""
    return a[1] is not None and a[0] + a[1] <= b[0]


def _factors(key: str) -> list[str]:
    """Factors of a divisor's key: split at `*` outside parentheses, a sum is one factor."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(key):
        depth += (character in "([") - (character in ")]")
        if depth == 0 and character == "+":
            return [key]
        if depth == 0 and character == "*":
            parts.append(key[start:i])
            start = i + 1
    return [*parts, key[start:]]
