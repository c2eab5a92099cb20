"""A run made ready to be timed: its launches captured cold (over rotating copies) and warm (on one copy)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..binaries import identity
from ..numerics.outputs import Fact, compare_values, fact
from ..protocol import Protocol
from .memory import Pool, copies_for, footprint
from .names import Mode
from .recording import Launch, flat_bytes
from .timers import Replay, Timer
from .variants import Run, same_bits

_TRIED = 4
"""Passes by which the time of a warm one is estimated."""


class Prepared:
    """What `measure` times. A pass is all timed launches of one run, in order."""

    def __init__(self, run: Run, timer: Timer, numbers: Protocol) -> None:
        self.run = run
        self._timer, self._numbers = timer, numbers
        self.bytes_touched = footprint(run.launches)
        copies = copies_for(self.bytes_touched, timer.l2_bytes, numbers.timing.l2_flush_factor)
        self._pool = Pool(run.recorded, run.launches, copies)
        self._placed: dict[int, list[Callable[[], Any]]] = {}
        self._in_place = any(
            self._pool.holds(leaf) and not _unchanged(run, leaf) for name, leaf in run.tensors().items()
            if name.startswith("input ")
        )
        for step in self._on(0):
            step()
        timer.synchronize()
        self.single = timer.capture(self._steps(range(len(self._pool))))
        self._cold = self._rotation(len(self._pool), self._wanted(_Timed(self.single, len(self._pool))))
        self._turn = 0
        self._once = timer.capture(self._on(0))
        self._warm = self._repeated([0], self._wanted(self._repeated([0], _TRIED)))
        self._pool.fill()

    def measure(self, mode: Mode) -> float:
        """Seconds of one pass."""
        if mode == "cold":
            self._turn = (self._turn + 1) % len(self._cold)
            chosen = self._cold[self._turn]
            if self._in_place:
                self._pool.fill()
                for other in range(1, len(self._cold)):
                    self._cold[(self._turn + other) % len(self._cold)].replay()
                if len(self._cold) == 1:
                    chosen.replay()
            return self._timer.seconds(chosen.replay) / chosen.passes
        if self._in_place:
            self._pool.fill_one(0)
        self._once()
        return self._timer.seconds(self._warm.replay) / self._warm.passes

    def warm_up(self, runs: int, seconds: float) -> None:
        """Replays at least so often and so long."""
        begun, done = time.monotonic(), 0
        while done < runs or time.monotonic() - begun < seconds:
            self._cold[done % len(self._cold)].replay()
            self._timer.synchronize()
            done += 1
        self.fill()

    def fill(self) -> None:
        """Every copy holds again what was there at first."""
        self._pool.fill()
        self._timer.synchronize()

    def host_microseconds(self, launches: int) -> float:
        """Time the host takes to launch one pass, without waiting for the device."""
        steps = self._on(0)
        self._timer.synchronize()
        begun = time.perf_counter()
        for _ in range(launches):
            for step in steps:
                step()
        spent = time.perf_counter() - begun
        self._timer.synchronize()
        return spent / launches * 1e6

    def audit(self, number: int) -> dict[str, Any]:
        """One replay on fresh memory, poisoned where it was never written; the tensors it left in copy `number`."""
        self.fill()
        self.single()
        self._timer.synchronize()
        return {
            name: self._pool.view(leaf, number) for name, leaf in self.run.tensors().items() if self._pool.holds(leaf)
        }

    @property
    def copies(self) -> int:
        return len(self._pool)

    def _on(self, number: int) -> list[Callable[[], Any]]:
        if number not in self._placed:
            self._placed[number] = [self._pool.place(launch, number) for launch in self.run.launches]
        return self._placed[number]

    def _steps(self, copies: Iterable[int]) -> list[Callable[[], Any]]:
        return [step for number in copies for step in self._on(number)]

    def _wanted(self, tried: _Timed) -> int:
        """How many passes take long enough to be timed well."""
        tried.replay()
        taken = min(self._timer.seconds(tried.replay) for _ in range(3)) / tried.passes
        return math.ceil(self._numbers.timing.graph_milliseconds / 1e3 / max(taken, 1e-9))

    def _repeated(self, copies: Sequence[int], wanted: int) -> _Timed:
        """A pass on each of `copies` in turn, over again until there are `wanted` passes or no launch more may be."""
        most = self._numbers.timing.graph_launches // (len(copies) * len(self.run.launches))
        times = max(1, min(math.ceil(wanted / len(copies)), most))
        return _Timed(self._timer.capture(self._steps(copies) * times), times * len(copies))

    def _rotation(self, copies: int, wanted: int) -> list[_Timed]:
        """All copies, in as many parts as are long enough each: a measurement takes the next part.

        Between two visits of a copy lie all the others, so it is as cold in a part as in the whole.
        """
        parts = max(1, copies // wanted)
        bounds = [copies * part // parts for part in range(parts + 1)]
        return [self._repeated(range(start, stop), wanted) for start, stop in pairwise(bounds)]


@dataclass(frozen=True, slots=True)
class _Timed:
    replay: Replay
    passes: int


def compare_audit(candidate: Prepared, original: Prepared, number: int, numbers: Protocol) -> tuple[list[Fact], int]:
    """What replays of both leave in the same copy, compared; and how many tensors were."""
    number %= min(candidate.copies, original.copies)
    held = original.run.compared()
    expected = {name: leaf.clone() for name, leaf in original.audit(number).items() if name in held}
    got = candidate.audit(number)
    exact = candidate.run.variant.exact
    found, compared = [], 0
    for name, right in expected.items():
        if name not in got or got[name].shape != right.shape or got[name].dtype != right.dtype:
            continue
        compared += 1
        if same_bits(got[name], right):
            continue
        fault = compare_values(name, got[name], right, exact=exact, reordered=not exact, numbers=numbers.correctness)
        found += [fault] if fault else []
    return found, compared


def figures(launch: Launch) -> dict[str, Any]:
    """Figures of a compiled launch: registers, spills (bytes a thread), shared memory, warps, stages, its identity."""
    compiled = launch.compiled
    if compiled is None or not hasattr(compiled, "asm"):
        return {"kernel": launch.kernel}
    return {
        "kernel": launch.kernel,
        "registers": compiled.n_regs,
        "spill_bytes": 4 * compiled.n_spills,
        "shared_memory_bytes": compiled.metadata.shared,
        "num_warps": compiled.metadata.num_warps,
        "num_stages": compiled.metadata.num_stages,
    } | (identity(compiled) or {})


def too_much_spilled(run: Run, original: Run, limit: int, name: str) -> Fact | None:
    """The finding where a launch spills more than the limit and more than any of the original's."""
    spilled = max((figures(launch).get("spill_bytes", 0) for launch in run.launches), default=0)
    before = max((figures(launch).get("spill_bytes", 0) for launch in original.launches), default=0)
    if spilled <= max(limit, before):
        return None
    return fact("spills", candidate=name, bytes=spilled, target="this GPU")


def _unchanged(run: Run, leaf: Any) -> bool:
    import torch

    now = flat_bytes(leaf)
    return bool(torch.equal(now, run.recorded.contents[leaf.untyped_storage().data_ptr()]))
