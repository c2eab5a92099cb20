"""Medians, their errors, bootstrap intervals."""

from __future__ import annotations

import math
import random

import pytest

from skel.validation.timing.statistics import geometric_interval, median, median_error, ratio_interval


def pairs(ratio: float, count: int, noise: float, seed: int = 0) -> list[tuple[float, float]]:
    rng = random.Random(seed)
    return [(ratio * rng.gauss(1, noise), rng.gauss(1, noise)) for _ in range(count)]


def test_median() -> None:
    assert median([3, 1, 2]) == 2
    assert median([4, 1, 2, 3]) == 2.5
    with pytest.raises(ValueError):
        median([])


def test_the_error_of_a_median_shrinks_with_samples_and_is_unknown_for_few() -> None:
    rng = random.Random(0)
    values = [rng.gauss(100, 5) for _ in range(400)]
    assert median_error(values[:5]) == math.inf
    assert median_error(values) < median_error(values[:40]) < 0.05
    assert median_error([7.0] * 20) == 0


def test_the_interval_holds_the_ratio_and_ignores_a_lucky_outlier() -> None:
    blocks = [pairs(1.2, 50, 0.02, seed) for seed in range(6)]
    blocks[0][0] = (100.0, 1.0)
    found = ratio_interval(blocks, 500, 0.95, 1)
    assert found.low <= 1.2 <= found.high and found.high - found.low < 0.03
    assert found == ratio_interval(blocks, 500, 0.95, 1), "the same samples give the same interval"


def test_a_process_that_stands_apart_widens_the_interval() -> None:
    steady = [pairs(1.1, 50, 0.01, seed) for seed in range(4)]
    apart = [*steady[:2], *(pairs(1.3, 50, 0.01, seed) for seed in range(2))]
    narrow, wide = (ratio_interval(blocks, 500, 0.95, 1) for blocks in (steady, apart))
    assert wide.high - wide.low > 5 * (narrow.high - narrow.low)


def test_blocks_of_unequal_size() -> None:
    found = ratio_interval([pairs(2.0, 50, 0.01), pairs(2.0, 3, 0.01), []], 300, 0.95, 1)
    assert 1.95 < found.low <= found.median <= found.high < 2.05


def test_the_geometric_mean_counts_kept_originals_as_one() -> None:
    blocks = [pairs(4.0, 50, 0.001)]
    assert geometric_interval([blocks], 300, 0.95, 1, fixed=1).median == pytest.approx(2.0, rel=0.01)
    nothing = geometric_interval([], 300, 0.95, 1, fixed=3)
    assert (nothing.low, nothing.median, nothing.high) == (1, 1, 1)
    with pytest.raises(ValueError):
        geometric_interval([], 300, 0.95, 1)
