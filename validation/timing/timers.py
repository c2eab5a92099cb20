"""Timers. Each has a name; figures of different timers are never compared.

What a timer needs is taken hold of when it is made, before any candidate is loaded, and looked at again afterwards: a
candidate that replaces the clock is found out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

Steps = Sequence[Callable[[], Any]]


class Tampered(Exception):
    """A function that the timing rests on was replaced while a candidate was loaded or run."""


class Replay(Protocol):
    """Steps made ready to be run as one."""

    def __call__(self) -> None:
        """Runs the steps once; they may still be going on when it returns."""


class Timer(Protocol):
    """Makes steps ready and says how long they take."""

    name: str
    l2_bytes: int

    def capture(self, steps: Steps) -> Replay:
        """`steps`, each of which has run before, as one replay."""

    def seconds(self, replay: Replay) -> float:
        """How long one replay takes on the device."""

    def synchronize(self) -> None:
        """Waits for everything begun."""

    def verify(self) -> None:
        """Raises Tampered."""


class GraphTimer:
    """A CUDA graph between two events: no time of the host's is in it, the gaps between kernels are."""

    name = "cuda graph"
    _BUSY_CYCLES = 200_000
    """About 0.1 ms, while which the host enqueues what is timed: else its latency would be timed too."""

    def __init__(self) -> None:
        import torch

        properties = torch.cuda.get_device_properties(0)
        self.l2_bytes: int = properties.L2_cache_size
        self._held = held()
        self._event, self._graph = torch.cuda.Event, torch.cuda.CUDAGraph
        self._record, self._elapsed = self._event.record, self._event.elapsed_time
        self._replay, self._begin, self._end = self._graph.replay, self._graph.capture_begin, self._graph.capture_end
        self._wait, self._sleep = torch.cuda.synchronize, torch.cuda._sleep
        self._on, self._stream = torch.cuda.stream, torch.cuda.Stream()

    def capture(self, steps: Steps) -> Replay:
        graph = self._graph()
        self._wait()
        with self._on(self._stream):
            self._begin(graph)
            for step in steps:
                step()
            self._end(graph)
        self._wait()
        return lambda: self._replay(graph)

    def seconds(self, replay: Replay) -> float:
        return self._between_events(replay, self._BUSY_CYCLES)

    def _between_events(self, replay: Replay, cycles: int) -> float:
        begin, end = self._event(enable_timing=True), self._event(enable_timing=True)
        self._wait()
        self._sleep(cycles)
        self._record(begin)
        replay()
        self._record(end)
        self._wait()
        return float(self._elapsed(begin, end)) / 1e3

    def synchronize(self) -> None:
        self._wait()

    def verify(self) -> None:
        verify_held(self._held)


class EventTimer(GraphTimer):
    """Plain launches between two events, for what no graph can hold. The device is kept busy while they are enqueued;
    where the host is slower than foreseen its latency is timed too."""

    name = "cuda events"
    _CYCLES_A_SECOND = 2e9
    _SPARE = 1.5
    """So many times what enqueueing took when it was tried."""

    def __init__(self) -> None:
        super().__init__()
        self._clock = time.perf_counter
        self._cycles: dict[Replay, int] = {}

    def capture(self, steps: Steps) -> Replay:
        def replay() -> None:
            for step in steps:
                step()

        self._wait()
        begun = self._clock()
        replay()
        spent = self._clock() - begun
        self._wait()
        self._cycles[replay] = self._BUSY_CYCLES + int(spent * self._SPARE * self._CYCLES_A_SECOND)
        return replay

    def seconds(self, replay: Replay) -> float:
        return self._between_events(replay, self._cycles[replay])


class KernelTimer(GraphTimer):
    """The time of the kernels themselves, as CUPTI traces them in a CUDA graph: neither the host nor gaps are in it."""

    name = "cupti kernel time"

    def __init__(self) -> None:
        from .cupti import KernelTrace

        super().__init__()
        self._trace = KernelTrace()

    def seconds(self, replay: Replay) -> float:
        """Raises Tampered where no kernel was seen."""
        self._wait()
        self._trace.take()
        replay()
        self._wait()
        kernels = self._trace.take()
        if not kernels:
            raise Tampered("no kernel was traced while one was timed")
        return sum(end - begin for begin, end in kernels) / 1e9


class HostTimer:
    """The host's clock around plain calls, for trying the machinery where there is no GPU: no verdict rests on it."""

    name = "host clock"
    l2_bytes = 64
    """So small that two copies are enough."""

    def __init__(self) -> None:
        self._clock = time.perf_counter
        self._held = held()

    def capture(self, steps: Steps) -> Replay:
        def replay() -> None:
            for step in steps:
                step()

        return replay

    def seconds(self, replay: Replay) -> float:
        begun = self._clock()
        replay()
        return self._clock() - begun

    def synchronize(self) -> None:
        """Nothing is ever left going on."""

    def verify(self) -> None:
        verify_held(self._held)


TIMERS: dict[str, Callable[[], Timer]] = {
    one.name: one for one in (GraphTimer, KernelTimer, EventTimer, HostTimer)
}
DECIDING = (GraphTimer.name, KernelTimer.name, EventTimer.name)
"""Names of timers that a verdict may rest on: those of the device."""


def held() -> dict[tuple[str, str], Any]:
    """The functions that timing, recording and comparing rest on."""
    import torch
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    watched: list[tuple[Any, tuple[str, ...]]] = [
        (torch.cuda.Event, ("__new__", "record", "elapsed_time", "synchronize")),
        (torch.cuda.CUDAGraph, ("replay", "capture_begin", "capture_end")),
        (torch.cuda, ("synchronize", "stream", "current_stream", "Event", "CUDAGraph", "_sleep")),
        (torch, ("equal", "isfinite", "empty", "allclose")),
        (torch.Tensor, ("copy_", "clone", "double")),
        (JITFunction, ("run", "__getitem__")),
        (InterpretedFunction, ("run",)),
        (time, ("perf_counter", "monotonic", "time")),
    ]
    return {
        (getattr(owner, "__name__", str(owner)), name): (owner, getattr(owner, name))
        for owner, names in watched
        for name in names
        if hasattr(owner, name)
    }


def verify_held(before: dict[tuple[str, str], Any]) -> None:
    """Raises Tampered where one of them is another now."""
    for (owner_name, name), (owner, value) in before.items():
        now = getattr(owner, name, None)
        if now is not value and now != value:
            raise Tampered(f"{owner_name}.{name} was replaced while candidates were loaded and run")
