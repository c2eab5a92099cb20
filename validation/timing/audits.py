"""Audits: what a timed replay leaves in memory, held against what the original's leaves.

Everyone is audited twice: right after one of the measurements, which one nobody could foresee, and when all is timed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..numerics.outputs import Fact
from .bench_context import Context
from .names import MODES, Mode
from .prepared import Prepared, compare_audit


class Audits:
    """Measures everyone of `prepared`, and adds what an audit finds to `facts`, by name."""

    def __init__(self, context: Context, prepared: Mapping[str, Prepared], facts: dict[str, list[Fact]]) -> None:
        self._context, self._prepared, self._facts = context, prepared, facts
        self._mode = context.rng.choice(MODES)
        # In the first trial of the mode: there may be no other.
        rounds = context.numbers.timing.final_samples
        self._due = {name: context.rng.randrange(rounds) for name in prepared if name != "original"}
        self.counted: dict[str, dict[str, Any]] = {
            name: {"mode": self._mode, "iteration": number, "tensors": []} for name, number in self._due.items()
        }
        """By name: `mode` and `iteration` of the audit in between, and how many `tensors` each audit compared."""

    def measured(self, name: str, mode: Mode) -> float:
        """Seconds of one pass of that version."""
        seconds = self._prepared[name].measure(mode)
        if mode == self._mode and name in self._due:
            self._due[name] -= 1
            if self._due[name] < 0:
                del self._due[name]
                self._audit(name)
        return seconds

    def afterwards(self) -> None:
        for name in self._prepared:
            if name != "original":
                self._audit(name)

    def _audit(self, name: str) -> None:
        one = self._prepared[name]
        number = self._context.rng.randrange(one.copies)
        found, tensors = compare_audit(one, self._prepared["original"], number, self._context.numbers)
        known = self._facts.setdefault(name, [])
        known += [fact for fact in found if fact not in known]
        self.counted[name]["tensors"].append(tensors)
