"""Grid axes: a program id, or a part of a flattened one taken out with `//` and `%`."""

from __future__ import annotations

from dataclasses import dataclass


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

    def overlaps(self, other: Axis) -> bool:
        """True unless the two are provably independent.

        `x % n` and `x // n` of the same x are independent; so are different program ids. A raw id overlaps all
        its parts, and parts by different divisors may overlap.
        """
        if self.root != other.root:
            return False
        for (op, divisor), (other_op, other_divisor) in zip(self.steps, other.steps, strict=False):
            if divisor != other_divisor:
                return True
            if op != other_op:
                return False
        return True

    def __str__(self) -> str:
        text = f"program_id({self.root})"
        for operator, divisor in self.steps:
            text = f"({text} {operator} {divisor})"
        return text


def depends(axes: frozenset[Axis], axis: Axis) -> bool:
    """True where any of `axes` overlaps `axis`."""
    return any(a.overlaps(axis) for a in axes)
