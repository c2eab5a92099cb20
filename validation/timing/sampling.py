"""Takes samples: everyone once a round, in random order, until the medians are known well enough."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..protocol import Timing
from .statistics import median_error

Measure = Callable[[str], float]
"""Seconds of one launch of the variant of that name."""
Fraction = Callable[[], float | None]
"""The clock as a fraction of its peak, right now."""


@dataclass(slots=True)
class Samples:
    """Rounds by trial. In a round everyone was measured once, within moments of each other."""

    trials: list[list[dict[str, float]]] = field(default_factory=list)
    dropped: int = 0
    """Rounds that were not kept, since the clock was low."""
    exhausted: bool = False
    """True where rounds had to be given up: too many were dropped."""

    def of(self, name: str) -> list[float]:
        """All seconds of one variant."""
        return [one[name] for trial in self.trials for one in trial]

    def pairs(self, first: str, second: str) -> list[list[tuple[float, float]]]:
        """Pairs of two variants by trial."""
        return [[(one[first], one[second]) for one in trial] for trial in self.trials]


def one_trial(
    names: Sequence[str],
    measure: Measure,
    rounds: int,
    rng: random.Random,
    fraction: Fraction,
    numbers: Timing,
    into: Samples,
) -> None:
    """Adds a trial of `rounds` rounds. A round with a low clock is repeated, at most as often as there are rounds."""
    trial: list[dict[str, float]] = []
    spare = rounds
    while len(trial) < rounds:
        order = list(names)
        rng.shuffle(order)
        seconds = {name: measure(name) for name in order}
        clock = fraction()
        if clock is None or clock >= numbers.clock_fraction:
            trial.append(seconds)
            continue
        into.dropped += 1
        spare -= 1
        if spare < 0:
            into.exhausted = True
            break
    into.trials.append(trial)


def sample(
    names: Sequence[str],
    measure: Measure,
    rng: random.Random,
    fraction: Fraction,
    numbers: Timing,
    between: Callable[[], None],
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> Samples:
    """`final_trials` trials of `final_samples` rounds, then more until every median's error is under `median_error`.

    `between` is called before each trial, outside anything timed; after `seconds` no further trial begins.
    """
    taken = Samples()
    begun = clock()
    while True:
        between()
        one_trial(names, measure, numbers.final_samples, rng, fraction, numbers, taken)
        spent = clock() - begun
        enough = len(taken.trials) >= numbers.final_trials
        steady = all(median_error(taken.of(name)) < numbers.median_error for name in names)
        average = spent / len(taken.trials)
        if taken.exhausted or (enough and steady) or (spent + average > seconds and len(taken.trials) >= 1):
            return taken
