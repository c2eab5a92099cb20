"""Puts a recorder in front of every launch, interpreted, on a GPU, or only compiled where there is neither."""

from __future__ import annotations

import inspect
import threading
from typing import Any

from .arguments import NotReplayable, encode, form_of
from .calls import Calls
from .memory import snapshot
from .writing import Writer


class Launches:
    """Records launches; `mode` is `interpreter`, `gpu` or `compile`, `driver` a context that holds while one runs."""

    def __init__(self, writer: Writer, calls: Calls, mode: str, driver: Any) -> None:
        self._driver = driver
        self._writer = writer
        self._calls = calls
        self._mode = mode
        self._local = threading.local()
        self._known: dict[Any, int] = {}

    def install(self) -> None:
        """Replaces what launches, tunes and defines kernels by versions that record."""
        from triton.runtime.autotuner import Autotuner, Heuristics
        from triton.runtime.interpreter import InterpretedFunction
        from triton.runtime.jit import JITFunction

        for kind in (JITFunction, InterpretedFunction):
            kind.__init__ = self._defining(kind.__init__)
            kind.run = self._running(kind.run)
        Autotuner.run = self._choosing(Autotuner.run)
        Autotuner._bench = self._muted(Autotuner._bench)
        Heuristics.run = self._choosing(Heuristics.run)

    @property
    def _choosers(self) -> list[Any]:
        if not hasattr(self._local, "choosers"):
            self._local.choosers, self._local.muted = [], 0
        return self._local.choosers  # type: ignore[no-any-return]

    def _defining(self, original: Any) -> Any:
        def init(kernel: Any, fn: Any, *args: Any, **kwargs: Any) -> None:
            original(kernel, fn, *args, **kwargs)
            self._calls.files.add(fn.__code__.co_filename)

        return init

    def _choosing(self, original: Any) -> Any:
        def run(chooser: Any, *args: Any, **kwargs: Any) -> Any:
            self._choosers.append(chooser)
            try:
                with self._driver():
                    return original(chooser, *args, **kwargs)
            finally:
                self._choosers.pop()

        return run

    def _muted(self, original: Any) -> Any:
        """While configurations are tried out, launches are nobody's."""

        def bench(*args: Any, **kwargs: Any) -> Any:
            _ = self._choosers
            self._local.muted += 1
            try:
                return original(*args, **kwargs)
            finally:
                self._local.muted -= 1

        return bench

    def _running(self, original: Any) -> Any:
        def run(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            _ = self._choosers
            if warmup or self._local.muted:
                return original(kernel, *args, grid=grid, warmup=warmup or self._mode == "compile", **kwargs)
            with self._driver():
                done = self._begin(kernel, args, kwargs, grid)
                try:
                    result = original(kernel, *args, grid=grid, warmup=self._mode == "compile", **kwargs)
                except BaseException:
                    # A launch that fails is no workload, whatever its launcher makes of it.
                    for entry in self._calls.stack:
                        entry.launches.clear()
                    raise
            done()
            return result

        return run

    def _begin(self, kernel: Any, args: Any, kwargs: dict[str, Any], grid: Any) -> Any:
        """Describes a launch and says what is to be done after it: nothing where a recorded call of a launcher stands
        for it, else to record the launch itself."""
        names = list(inspect.signature(kernel.fn).parameters)
        bound = bind(kernel.fn, args, kwargs)
        options = {key: value for key, value in kwargs.items() if key not in names}
        sizes = [int(size) for size in (grid(bound) if callable(grid) else grid)]
        file = kernel.fn.__code__.co_filename
        entry = self._calls.entry_for(file)
        tensors: list[Any] = []
        why = None
        try:
            encoded = {name: encode(value, tensors) for name, value in bound.items()}
            given = {name: encode(value, []) for name, value in options.items()}
        except NotReplayable as error:
            encoded, given, why = {name: _said(value) for name, value in bound.items()}, {}, str(error)
        form = (kernel.fn.__module__, kernel.fn.__qualname__, form_of((encoded, given, sizes), tensors))
        number = self._known.get(form)
        new = number is None
        if number is None:
            number = self._known[form] = len(self._known)
            self._writer.write("launch", self._described(kernel, number, encoded, tensors, given, sizes, why))
        else:
            self._writer.write("count", {"launch": number})
        if entry is not None:
            entry.launches.append(number)
            return lambda: None
        if not new or why is not None:
            return lambda: None
        return self._alone(kernel, number, encoded, tensors, given, sizes)

    def _described(
        self, kernel: Any, number: int, encoded: Any, tensors: list[Any], options: Any, grid: list[int], why: str | None
    ) -> dict[str, Any]:
        file = kernel.fn.__code__.co_filename
        addresses = {tensor.untyped_storage().data_ptr(): None for tensor in tensors}
        order = {address: place for place, address in enumerate(addresses)}
        tuner = next((c for c in reversed(self._choosers) if hasattr(c, "configs")), None)
        heuristics = [name for c in self._choosers if not hasattr(c, "configs") for name in getattr(c, "values", ())]
        return {
            "launch": number,
            "kernel": kernel.fn.__qualname__,
            "module": kernel.fn.__module__,
            "file": file,
            "line": kernel.fn.__code__.co_firstlineno,
            "sha256": self._writer.source(file),
            "grid": grid,
            "arguments": encoded,
            "constexprs": constexprs(kernel.fn),
            "tensors": [
                {
                    "dtype": str(tensor.dtype).removeprefix("torch."),
                    "shape": list(tensor.shape),
                    "stride": list(tensor.stride()),
                    "offset": tensor.storage_offset(),
                    "storage": order[tensor.untyped_storage().data_ptr()],
                    "aligned": tensor.data_ptr() % 16 == 0,
                }
                for tensor in tensors
            ],
            "options": options,
            "autotuned": None if tuner is None else {k: _said(v) for k, v in tuner.best_config.all_kwargs().items()},
            "configurations": 0 if tuner is None else len(tuner.configs),
            "heuristics": heuristics,
            "not_replayable": why,
            "launchers": self._calls.reasons(file),
        }

    def _alone(self, kernel: Any, number: int, encoded: Any, tensors: list[Any], options: Any, grid: list[int]) -> Any:
        """Records the launch itself as a call: nothing above it can be called again."""
        before = snapshot(tensors)

        def done() -> None:
            call = self._calls.next_number()
            file = kernel.fn.__code__.co_filename
            record = {
                "call": call,
                "kind": "kernel",
                "module": kernel.fn.__module__,
                "name": kernel.fn.__name__,
                "file": file,
                "sha256": self._writer.source(file),
                "line": kernel.fn.__code__.co_firstlineno,
                "order": [],
                "keywords": list(encoded),
                "rest": None,
                "extra": None,
                "arguments": encoded,
                "options": options,
                "grid": grid,
                "launches": [number],
            }
            self._writer.write("call", record | self._calls.memory(call, before, tensors, None, []))

        return done


def bind(fn: Any, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """A kernel's arguments by name, defaults filled in."""
    parameters = inspect.signature(fn).parameters
    bound = dict(zip(parameters, args, strict=False))
    bound |= {name: value for name, value in kwargs.items() if name in parameters}
    for name, parameter in parameters.items():
        if name not in bound and parameter.default is not inspect.Parameter.empty:
            bound[name] = parameter.default
    return {name: bound[name] for name in parameters if name in bound}


def constexprs(fn: Any) -> list[str]:
    """Names of the parameters that are compile-time constants."""
    return [name for name, kind in getattr(fn, "__annotations__", {}).items() if "constexpr" in str(kind)]


def _said(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(type(value).__qualname__)
