"""Records the first launch of every kernel of a call: arguments, what their memory held, the tuner in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..timing.recording import Launch, Recording, flat_bytes


@dataclass(slots=True)
class Captured:
    """One launch with the memory that it was made on."""

    launch: Launch
    recording: Recording
    """Holds that launch, and its memory as it was before it."""
    tuner: Any
    """The autotuner in front of the kernel, or None."""
    chosen: Any = None
    """The configuration that it chose for this launch; None without a tuner."""

    @property
    def kernel(self) -> str:
        return self.launch.kernel


@contextmanager
def marked_memory() -> Iterator[None]:
    """Within: memory that torch hands out empty holds NaN, or the largest integer, so that what is written shows.

    Else a call may get the memory of an earlier one, with the very results that it is about to write.
    """
    import torch

    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


def _noting(tune: Any, tuners: list[Any]) -> Any:
    """A tuner's `run` that stands in `tuners` for as long as it runs."""

    def tuned(self: Any, *args: Any, **kwargs: Any) -> Any:
        tuners.append(self)
        try:
            return tune(self, *args, **kwargs)
        finally:
            tuners.pop()

    return tuned


@contextmanager
def rehearsing(folder: Path) -> Iterator[list[Captured]]:
    """Within: launches of kernels whose file lies in `folder` are noted and not made, so that they can be compiled.

    What the call computes is meaningless. Every launch is noted, the tuner in front of it with it.
    """
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    noted: list[Captured] = []
    tuners: list[Any] = []
    run, tune = JITFunction.run, Autotuner.run

    def note(self: Any, *args: Any, grid: Any, warmup: bool = False, **options: Any) -> Any:
        if warmup or not Path(self.fn.__code__.co_filename).is_relative_to(folder):
            return run(self, *args, grid=grid, warmup=warmup, **options)
        launch = Launch(self, args, grid, options)
        noted.append(Captured(launch, Recording([launch]), tuners[-1] if tuners else None))
        return None

    JITFunction.run, Autotuner.run = note, _noting(tune, tuners)
    try:
        yield noted
    finally:
        JITFunction.run, Autotuner.run = run, tune


@contextmanager
def capturing(folder: Path) -> Iterator[dict[str, Captured]]:
    """Within: the first launch of every kernel whose file lies in `folder` is kept, by file and kernel.

    Launches that a tuner makes to compare configurations are made and not kept.
    """
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    found: dict[str, Captured] = {}
    tuners: list[Any] = []
    depth = [0]
    kinds: tuple[Any, ...] = (JITFunction, InterpretedFunction)
    before = [kind.run for kind in kinds]
    tune, bench = Autotuner.run, Autotuner._bench

    def benched(self: Any, *args: Any, **kwargs: Any) -> Any:
        depth[0] += 1
        try:
            return bench(self, *args, **kwargs)
        finally:
            depth[0] -= 1

    def recorder(run: Any) -> Any:
        def wrapper(self: Any, *args: Any, grid: Any, warmup: bool = False, **options: Any) -> Any:
            if warmup or depth[0]:
                return run(self, *args, grid=grid, warmup=warmup, **options)
            key = f"{self.fn.__code__.co_filename}:{self.fn.__name__}"
            if key in found or not Path(self.fn.__code__.co_filename).is_relative_to(folder):
                return run(self, *args, grid=grid, warmup=False, **options)
            launch = Launch(self, args, grid, options)
            made = Recording([launch])
            for tensor in launch.tensors():
                made.contents.setdefault(tensor.untyped_storage().data_ptr(), flat_bytes(tensor).clone())
            depth[0] += 1
            try:
                launch.compiled = run(self, *args, grid=grid, warmup=False, **options)
            finally:
                depth[0] -= 1
            tuner = tuners[-1] if tuners else None
            found[key] = Captured(launch, made, tuner, getattr(tuner, "best_config", None))
            return launch.compiled

        return wrapper

    Autotuner.run, Autotuner._bench = _noting(tune, tuners), benched
    for kind, run in zip(kinds, before, strict=True):
        kind.run = recorder(run)
    try:
        yield found
    finally:
        Autotuner.run, Autotuner._bench = tune, bench
        for kind, run in zip(kinds, before, strict=True):
            kind.run = run
