"""A few hundred random kernels through the engine, and a part of them through the interpreter.

`python -m tests.random_kernels --count N --seed S` runs more; tests/random_kernels/results has a run of 10,000.
"""

from __future__ import annotations

import ast
import os
from concurrent.futures.process import BrokenProcessPool

import pytest

from .checking import check_seeds
from .generator import generate
from .processes import in_processes
from .rewriting import FEW, rewrite


def test_the_generator_is_deterministic_and_valid() -> None:
    for seed in range(400):
        sample = generate(seed)
        assert sample == generate(seed)
        ast.parse(sample.text)
        ast.parse(sample.widened or "")


def test_the_engine_never_breaks_and_gives_what_parses() -> None:
    made = [rewrite(generate(seed).text, f"random_{seed}.py", "kernel", FEW[:3]) for seed in range(5000, 5060)]
    assert [m.bugs for m in made if m.bugs] == []
    texts = [text for m in made for text in m.candidates.values()]
    for text in texts:
        ast.parse(text)
    assert len(texts) > 60


def _inverse(number: int) -> float:
    if number == 3:
        os._exit(1)
    return 1 / number


def test_pieces_are_done_by_processes_that_end_and_that_are_replaced() -> None:
    """Nine pieces, two processes at a time, two pieces each; one piece raises, and one ends its process."""
    found = dict(in_processes(_inverse, range(9), jobs=2, each=2))
    assert sorted(found) == list(range(9))
    assert isinstance(found[0], ZeroDivisionError) and isinstance(found[3], BrokenProcessPool)
    assert [found[n] for n in (1, 2, 4, 8)] == [1, 0.5, 0.25, 0.125]


@pytest.mark.slow
def test_candidates_agree_with_their_originals() -> None:
    summary = check_seeds(20_000, 40, batch=40)
    assert summary.wrong == []
    assert summary.faults == []
    assert summary.judged > 25 and summary.candidates > 60
    assert summary.bitwise > summary.candidates // 2


@pytest.mark.parametrize("seed", [1_000_274])
def test_seeds_that_were_wrong_once(seed: int) -> None:
    """1000274: two values of a kernel before, one scratch, and then one grid axis for both."""
    summary = check_seeds(seed, 1)
    assert summary.wrong == [] and summary.faults == []
    assert summary.judged == 1 and summary.equivalent["hoist_producer"]
