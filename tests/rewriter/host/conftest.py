"""Launchers as text: parse them, rewrite them, and run them against a Triton that only writes down its launches."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from skel.rewriter.kernel.definition import KernelDef, Module, read_module
from skel.rewriter.kernel.edits import Edit, apply_edits
from skel.rewriter.kernel.launch import Launch, launches_of
from skel.rewriter.kernel.source import read_source
from skel.rewriter.reasons import Refuse

KERNEL = """import triton
import triton.language as tl


@triton.jit
def kernel(x, y, V, K, BV: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0)
    tl.store(y + i * BV + tl.arange(0, BV), tl.load(x + i * BV + tl.arange(0, BV)))


"""


@dataclass
class Case:
    """A file with one kernel of interest and its launches."""

    text: str
    name: str = "kernel"
    module: Module = field(init=False)
    kernel: KernelDef = field(init=False)
    launches: tuple[Launch, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.module = read_module(read_source(self.text, "case.py"))
        self.kernel = self.module.kernels_named(self.name)[0]
        self.launches = launches_of(self.module, self.kernel)

    @property
    def launch(self) -> Launch:
        (launch,) = self.launches
        return launch

    def source(self, node: Any) -> str:
        return self.module.source.segment(node)

    def after(self, edits: list[Edit]) -> str:
        """The whole text with the edits made; it must still parse."""
        text = apply_edits(self.text, edits)
        read_source(text, "case.py")
        return text

    def changed(self, edits: list[Edit]) -> list[str]:
        """The lines of the result that the original does not have, stripped, in order."""
        before = self.text.splitlines()
        return [line.strip() for line in self.after(edits).splitlines() if line not in before]


@pytest.fixture
def host() -> Callable[..., Case]:
    """`host(launcher)`: the standard kernel, followed by that launcher."""

    def build(launcher: str, *, kernel: str = KERNEL, name: str = "kernel") -> Case:
        return Case(kernel + launcher, name)

    return build


@pytest.fixture
def refused() -> Callable[[Callable[[], object]], tuple[str, tuple[int, ...]]]:
    """`refused(lambda: ...)`: the code and lines of the refusal; fails where nothing is refused."""

    def code_of(action: Callable[[], object]) -> tuple[str, tuple[int, ...]]:
        with pytest.raises(Refuse) as caught:
            action()
        return caught.value.refusal.code, caught.value.refusal.lines

    return code_of


class _Recorder:
    """Stands for a kernel: `kernel[grid](...)` appends the grid it would run with and its keywords."""

    def __init__(self, parameters: list[str], calls: list[tuple[tuple[int, ...], dict[str, Any]]]) -> None:
        self.parameters, self.calls = parameters, calls

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def launch(*args: Any, **kwargs: Any) -> None:
            bound = {**dict(zip(self.parameters, args, strict=False)), **kwargs}
            sizes = grid(bound) if callable(grid) else grid
            self.calls.append((tuple(sizes) if isinstance(sizes, tuple | list) else (sizes,), bound))

        return launch


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[tuple[int, ...], dict[str, Any]]]]:
    """`launched(text, **arguments)`: run `run(**arguments)` of a file; the grids and arguments of its launches."""
    calls: list[tuple[tuple[int, ...], dict[str, Any]]] = []

    def jit(function: Any) -> _Recorder:
        code = function.__code__
        return _Recorder(list(code.co_varnames[: code.co_argcount]), calls)

    fake: Any = types.ModuleType("triton")
    fake.language = types.ModuleType("triton.language")
    fake.language.constexpr = int
    fake.jit = jit
    fake.heuristics = lambda table: lambda function: function
    fake.cdiv = lambda a, b: -(-a // b)
    fake.next_power_of_2 = lambda n: 1 << (n - 1).bit_length()

    def run(text: str, **arguments: Any) -> list[tuple[tuple[int, ...], dict[str, Any]]]:
        monkeypatch.setitem(sys.modules, "triton", fake)
        monkeypatch.setitem(sys.modules, "triton.language", fake.language)
        calls.clear()
        space: dict[str, Any] = {"__name__": "case"}
        exec(compile(text, "case.py", "exec"), space)
        space["run"](**arguments)
        return list(calls)

    return run
