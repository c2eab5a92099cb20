"""Counts the launches of a run: which kernels, from which file, as which binary. What ran must be what was meant."""

from __future__ import annotations

import inspect
import linecache
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

from ..binaries import Identity, identity
from .written import Watch

HOLD_CYCLES = 50_000_000
"""Clock cycles: some 30 ms."""


class Launches(Counter[tuple[str, str]]):
    """Launches counted by (kernel, source file), with the hashes of their binaries and the kernels that pretend."""

    def __init__(self) -> None:
        super().__init__()
        self.built: dict[tuple[str, str], dict[str, Identity]] = {}
        """By kernel and hash the binaries that were launched."""
        self.foreign: set[tuple[str, str]] = set()
        """Kernels that say they stand in a file which holds other code."""
        self.streams: list[Any] = []
        """CUDA streams, other than the one the run began on, that kernels were launched on."""

    def unfinished_streams(self) -> int:
        """How many of those still work although the stream the run began on has come to its end."""
        if not self.streams:
            return 0
        import torch

        torch.cuda.current_stream().synchronize()
        return sum(not stream.query() for stream in self.streams)

    def facts(self) -> list[dict[str, Any]]:
        """One entry a kernel, in plain values."""
        return [
            {
                "kernel": kernel,
                "file": file,
                "count": count,
                "binaries": sorted(self.built.get((kernel, file), ())),
                "built": [one for _, one in sorted(self.built.get((kernel, file), {}).items())],
                "foreign": (kernel, file) in self.foreign,
            }
            for (kernel, file), count in self.items()
        ]


@contextmanager
def recorded(watch: Watch | None = None) -> Iterator[Launches]:
    """Within: the launches of every Triton kernel, interpreted or compiled, counted by (kernel, source file); `watch`
    looks at the tensors they are given."""
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    counted = Launches()
    stream = _stream()

    def counting(run: Any) -> Any:
        def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
            if kwargs.get("warmup"):
                return run(self, *args, **kwargs)
            key = (self.fn.__name__, self.fn.__code__.co_filename)
            counted[key] += 1
            if not stands_in_file(self):
                counted.foreign.add(key)
            after = watch.launch(key[0], _arguments(self, args, kwargs)) if watch is not None else None
            compiled = run(self, *args, **kwargs)
            if after is not None:
                after()
            if (other := _stream()) != stream:
                _hold(other, counted.streams)
            if (built := identity(compiled)) is not None:
                counted.built.setdefault(key, {})[built["binary_sha256"]] = built
            return compiled

        return wrapper

    kinds: tuple[Any, ...] = (InterpretedFunction, JITFunction)
    before = [kind.run for kind in kinds]
    for kind in kinds:
        kind.run = counting(kind.run)
    try:
        yield counted
    finally:
        for kind, run in zip(kinds, before, strict=True):
            kind.run = run


def _stream() -> Any:
    """The current CUDA stream; None where CUDA is not in use, or captures a graph."""
    import torch

    if not torch.cuda.is_initialized() or torch.cuda.is_current_stream_capturing():
        return None
    return torch.cuda.current_stream()


def _hold(stream: Any, streams: list[Any]) -> None:
    """Keeps another stream busy for a while: whoever waits for its work waits for this as well, and nobody else."""
    import torch

    if stream is not None and stream != torch.cuda.default_stream():
        torch.cuda._sleep(HOLD_CYCLES)
        if stream not in streams:
            streams.append(stream)


def kernels_of(module: Any, path: str) -> list[str]:
    """Names of the kernels that a module takes from the file at `path`, also behind autotuners and heuristics."""
    found = []
    for name, value in list(vars(module).items()):
        while hasattr(value, "fn") and hasattr(value.fn, "run"):
            value = value.fn
        code = getattr(getattr(value, "fn", None), "__code__", None)
        if hasattr(value, "run") and code is not None and code.co_filename == path:
            found.append(name)
    return found


def _arguments(kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """What the parameters of a launch were given, by name; options of the launch left out."""
    names = list(inspect.signature(kernel.fn).parameters)
    given = dict(zip(names, args, strict=False))
    return given | {name: value for name, value in kwargs.items() if name in names}


def stands_in_file(kernel: Any) -> bool:
    """True where the kernel's code is what its file holds: Triton and the interpreter read the source from there."""
    code = kernel.fn.__code__
    try:
        text = Path(code.co_filename).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return True  # no file of ours: it counts as no kernel of the target
    if not any(_same(code, one) for one in _codes(text) if one.co_name == code.co_name):
        return False
    if (lines := linecache.getlines(code.co_filename)) and "".join(lines).rstrip("\n") != text.rstrip("\n"):
        return False
    source = getattr(kernel, "raw_src", None)
    return source is None or "".join(source).strip() in text


def _same(a: CodeType, b: CodeType) -> bool:
    return (a.co_code, a.co_names, a.co_varnames, _plain(a)) == (b.co_code, b.co_names, b.co_varnames, _plain(b))


def _plain(code: CodeType) -> list[str]:
    return [repr(value) for value in code.co_consts if not isinstance(value, CodeType)]


@lru_cache(maxsize=8)
def _codes(text: str) -> tuple[CodeType, ...]:
    """Code objects of all functions in a text."""
    try:
        found = [compile(text, "source", "exec", dont_inherit=True)]
    except SyntaxError:
        return ()
    for code in found:
        found += [value for value in code.co_consts if isinstance(value, CodeType)]
    return tuple(found)
