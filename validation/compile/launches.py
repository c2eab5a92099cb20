"""Turns every launch into a compilation of what would be launched, with the JIT's own specialisation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class CompiledLaunch:
    """One launch: the kernel's name and file, its grid, its constexprs and options, and the compiled kernel."""

    kernel: str
    file: str
    grid: tuple[int, ...]
    constexprs: dict[str, Any]
    compiled: Any = field(repr=False)


@contextmanager
def compiling(enable_fp_fusion: bool) -> Iterator[list[CompiledLaunch]]:
    """Within: `kernel[grid](...)` compiles and launches nothing. Autotuners and heuristics in front keep working."""
    from triton.runtime.jit import JITFunction

    launches: list[CompiledLaunch] = []
    original: Any = JITFunction.run

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        kwargs.setdefault("enable_fp_fusion", enable_fp_fusion)
        compiled = original(self, *args, grid=grid, warmup=True, **kwargs)
        names = [parameter.name for parameter in self.params]
        bound = dict(zip(names, args, strict=False)) | {key: value for key, value in kwargs.items() if key in names}
        for parameter in self.params:
            if parameter.name not in bound and parameter.has_default:
                bound[parameter.name] = parameter.default
        programs = tuple(int(size) for size in (grid(bound) if callable(grid) else grid))
        constexprs = {p.name: plain(bound[p.name]) for p in self.params if p.is_constexpr and p.name in bound}
        launches.append(CompiledLaunch(self.fn.__name__, self.fn.__code__.co_filename, programs, constexprs, compiled))
        return compiled

    JITFunction.run = run
    try:
        yield launches
    finally:
        JITFunction.run = original


def plain(value: Any) -> Any:
    """A constexpr as JSON can hold it."""
    value = getattr(value, "value", value)
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)
