"""Copies of memory, rotations over them, and audits in between, with launches and clocks made by hand."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from skel.validation.protocol import Protocol
from skel.validation.timing.audits import Audits
from skel.validation.timing.memory import Pool
from skel.validation.timing.prepared import Prepared
from skel.validation.timing.recording import Launch, Recording, flat_bytes
from skel.validation.timing.timers import HostTimer, Steps
from skel.validation.timing.variants import Run

NUMBERS = Protocol().override({"timing.graph_milliseconds": 1.0, "timing.graph_launches": 64})


class Kernel:
    """A kernel of Python: `work(x, y)`, its calls noted by the address of what it writes."""

    def __init__(self, work: Callable[[torch.Tensor, torch.Tensor], Any]) -> None:
        self._work, self.fn = work, work
        self.written: list[int] = []

    def run(self, x: torch.Tensor, y: torch.Tensor, grid: Any, warmup: bool) -> None:
        self.written.append(y.data_ptr())
        self._work(x, y)


class Clock(HostTimer):
    """Every pass takes `each` seconds; an L2 of 4 KiB."""

    l2_bytes = 4096

    def __init__(self, each: float) -> None:
        super().__init__()
        self.each, self.lengths = each, {}

    def capture(self, steps: Steps) -> Any:
        made = super().capture(steps)
        self.lengths[made] = len(steps)
        return made

    def seconds(self, replay: Any) -> float:
        replay()
        return self.each * self.lengths[replay]


def run_of(
    kernel: Kernel, x: torch.Tensor, y: torch.Tensor, inputs: dict[str, Any] | None = None, scratch: Any = ()
) -> Run:
    """A run of one launch, as if it had been recorded before it changed anything."""
    contents = {one.untyped_storage().data_ptr(): flat_bytes(one).clone() for one in (x, y)}
    launch = Launch(kernel, (x, y), (1,), {})
    launch()
    kernel.written.clear()
    recorded = Recording([launch], contents)
    variant: Any = SimpleNamespace(exact=False, name="v", hooks=SimpleNamespace(scratch=scratch))
    return Run(variant, recorded, [launch], {"y": y}, inputs or {})


def add_one(x: torch.Tensor, y: torch.Tensor) -> None:
    y.copy_(x + 1)


def test_copies_lie_apart_aligned_and_hold_what_was_there_at_first() -> None:
    base = torch.arange(100, dtype=torch.float16)
    part, whole = base[3:51:2], torch.arange(7, dtype=torch.int8)
    contents = {one.untyped_storage().data_ptr(): flat_bytes(one).clone() for one in (base, whole)}
    launch = Launch(Kernel(add_one), (part, whole), (1,), {})
    pool = Pool(Recording([launch], contents), [launch], 3)
    views = [pool.view(part, number) for number in range(3)]
    assert all(torch.equal(view, part) and view.stride() == (2,) for view in views)
    starts = [pool.flat(part, number).data_ptr() for number in range(3)]
    assert {(b - a) % 512 for a, b in pairwise(starts)} == {0} and len(set(starts)) == 3
    views[1].zero_()
    assert torch.equal(pool.view(base, 1)[3:51:2], torch.zeros(24, dtype=torch.float16)) and views[0].any()
    pool.fill_one(1)
    assert torch.equal(views[1], part) and torch.equal(pool.view(whole, 2), whole)
    views[0].zero_()
    pool.fill()
    assert torch.equal(views[0], part)


@pytest.mark.parametrize(("each", "parts", "passes"), [(1e-3, 5, 1), (5e-4, 2, 2), (1e-4, 1, 10), (1e-9, 1, 60)])
def test_measurements_take_turns_over_parts_that_are_long_enough(each: float, parts: int, passes: int) -> None:
    kernel = Kernel(add_one)
    x = torch.ones(512)
    prepared = Prepared(run_of(kernel, x, torch.zeros(512)), Clock(each), NUMBERS)
    assert prepared.copies == 3, "two memories of 2 KiB: twice the L2 and one more"
    prepared = Prepared(run_of(kernel, x[:256], torch.zeros(256)), Clock(each), NUMBERS)
    assert prepared.copies == 5
    kernel.written.clear()
    seen: list[set[int]] = []
    for _ in range(parts):
        kernel.written.clear()
        assert prepared.measure("cold") == pytest.approx(each)
        assert len(kernel.written) >= min(passes, 60)
        seen.append(set(kernel.written))
    assert len(set.union(*seen)) == 5 == sum(map(len, seen)), "every copy once in a rotation"
    kernel.written.clear()
    prepared.measure("warm")
    assert len(set(kernel.written)) == 1


def test_kernels_that_work_in_place_begin_from_what_was_there() -> None:
    seen: list[float] = []

    def grow(x: torch.Tensor, y: torch.Tensor) -> None:
        seen.append(float(y[0]))
        y.add_(x)

    x, y = torch.ones(256), torch.zeros(256)
    prepared = Prepared(run_of(Kernel(grow), x, y, {"y": y}), Clock(5e-4), NUMBERS)
    for _ in range(4):
        seen.clear()
        prepared.measure("cold")
        assert seen[-2:] == [0.0, 0.0] and len(seen) == 5, "the others first: what is timed lies cold, as at first"


def test_an_audit_in_between_sees_what_is_right_at_the_end_again() -> None:
    clock, calls = Clock(1e-3), [0]

    def moody(x: torch.Tensor, y: torch.Tensor) -> None:
        calls[0] += 1
        y.copy_(x + (1 if calls[0] > 5000 else 2))

    x, y = torch.ones(256), torch.zeros(256)
    prepared = {
        "original": Prepared(run_of(Kernel(add_one), x, y.clone()), clock, NUMBERS),
        "control": Prepared(run_of(Kernel(add_one), x, y.clone()), clock, NUMBERS),
        "moody": Prepared(run_of(Kernel(moody), x, y.clone()), clock, NUMBERS),
    }
    iterations = set()
    for seed in range(8):
        calls[0] = 0
        facts: dict[str, Any] = {}
        context = SimpleNamespace(rng=random.Random(seed), numbers=NUMBERS)
        audits = Audits(context, prepared, facts)  # type: ignore[arg-type]
        for mode in ("cold", "warm"):
            for _ in range(NUMBERS.timing.final_samples):
                for name in prepared:
                    audits.measured(name, mode)  # type: ignore[arg-type]
        calls[0] = 10_000
        audits.afterwards()
        assert [fact["code"] for fact in facts["moody"]] == ["values_differ"] and not facts["control"]
        assert audits.counted["moody"]["tensors"] == [1, 1] and "original" not in audits.counted
        iterations.add((audits.counted["moody"]["mode"], audits.counted["moody"]["iteration"]))
    assert len(iterations) > 4, "nobody can foresee which"


def test_scratch_that_the_original_changes_is_not_compared() -> None:
    x, y = torch.ones(4), torch.zeros(4)
    run = run_of(Kernel(lambda x, y: y.copy_(x * 2)), x, y, {"x": x, "counter": y}, scratch=("x", "counter"))
    names = {name for name in run.tensors() if name.startswith("input ")}
    assert names == {"input x", "input counter"}
    changed = {name for name in names if run.changed(run.tensors()[name])}
    assert changed == {"input counter"}
    assert names & set(run.compared()) == {"input x"}, "what the original leaves alone is compared"
