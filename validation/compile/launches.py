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


class KernelError(Exception):
    """A kernel does not compile. `line` is the line of its file (1-based), where the compiler said one."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


@contextmanager
def compiling(enable_fp_fusion: bool) -> Iterator[list[CompiledLaunch]]:
    """Within: `kernel[grid](...)` compiles and launches nothing. Autotuners and heuristics in front keep working.

    Raises KernelError where the frontend refuses a kernel or a later stage fails.
    """
    from triton.compiler.errors import CompilationError
    from triton.runtime.jit import JITFunction

    launches: list[CompiledLaunch] = []
    original: Any = JITFunction.run

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        kwargs.setdefault("enable_fp_fusion", enable_fp_fusion)
        try:
            compiled = original(self, *args, grid=grid, warmup=True, **kwargs)
        except CompilationError as error:
            raise kernel_error(self, error) from error
        except Exception as error:  # later stages raise many kinds; all of them mean that the kernel does not compile
            raise KernelError(f"{type(error).__name__}: {error}", None) from error
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


def kernel_error(kernel: Any, error: Any) -> KernelError:
    """The compiler's complaint without its excerpt of the source, and the line it means."""
    while type(error.__cause__) is type(error):
        error = error.__cause__
    begin = kernel.starting_line_number
    begin += next((n for n, text in enumerate(kernel.raw_src) if text.strip().startswith("def ")), 0)
    own = error.node is not None and (error.src is None or error.src == kernel.src)
    message = str(error.error_message or error.__cause__ or error).strip().splitlines()
    return KernelError(f"{kernel.fn.__name__}: {message[-1]}", begin + error.node.lineno - 1 if own else None)


def plain(value: Any) -> Any:
    """A constexpr as JSON can hold it."""
    value = getattr(value, "value", value)
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)
