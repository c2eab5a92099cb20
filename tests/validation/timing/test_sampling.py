"""Rounds: random order, low clocks, when sampling goes on and when it ends."""

from __future__ import annotations

import random
from collections.abc import Callable

from skel.validation.protocol import Timing
from skel.validation.timing.sampling import Samples, one_trial, sample

NUMBERS = Timing(final_samples=20, final_trials=2, median_error=0.01, pair_seconds=100.0)


class Bench:
    """A clock and a kernel whose time is what `seconds` says; every measurement takes a second of the clock."""

    def __init__(self, seconds: Callable[[str, int], float]) -> None:
        self._seconds, self.now, self.order = seconds, 0.0, []

    def measure(self, name: str) -> float:
        self.now += 1.0
        self.order.append(name)
        return self._seconds(name, len(self.order))

    def clock(self) -> float:
        return self.now


def test_everyone_is_measured_once_a_round_in_changing_order() -> None:
    bench, taken = Bench(lambda name, _: 1.0), Samples()
    one_trial(["a", "b", "c"], bench.measure, 40, random.Random(0), lambda: None, NUMBERS, taken)
    rounds = [tuple(bench.order[i : i + 3]) for i in range(0, 120, 3)]
    assert all(sorted(one) == ["a", "b", "c"] for one in rounds)
    assert len(set(rounds)) == 6, "every order comes up"


def test_rounds_with_a_low_clock_are_repeated_but_not_for_ever() -> None:
    readings = iter([0.5, 0.5, *[1.0] * 50])
    taken = Samples()
    one_trial(["a"], lambda _: 1.0, 20, random.Random(0), lambda: next(readings), NUMBERS, taken)
    assert len(taken.trials[0]) == 20 and taken.dropped == 2 and not taken.exhausted
    never = Samples()
    one_trial(["a"], lambda _: 1.0, 20, random.Random(0), lambda: 0.5, NUMBERS, never)
    assert never.exhausted and not never.trials[0] and never.dropped == 21


def test_noisy_samples_are_taken_on_until_the_median_is_known() -> None:
    rng = random.Random(0)
    bench = Bench(lambda name, number: rng.gauss(1.0, 0.03))
    restored: list[int] = []
    taken = sample(["a"], bench.measure, rng, lambda: None, NUMBERS, lambda: restored.append(1), 1000.0, bench.clock)
    assert len(taken.trials) > 2 and len(restored) == len(taken.trials)
    quiet = Bench(lambda name, number: 1.0)
    assert len(sample(["a"], quiet.measure, rng, lambda: None, NUMBERS, list, 1000.0, quiet.clock).trials) == 2


def test_time_is_kept() -> None:
    rng = random.Random(0)
    bench = Bench(lambda name, number: rng.uniform(1.0, 3.0))
    taken = sample(["a"], bench.measure, rng, lambda: None, NUMBERS, list, 70.0, bench.clock)
    assert bench.now <= 70 and len(taken.trials) == 3
