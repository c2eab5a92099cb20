"""What detectors look at: one kernel with its facts, its body and its helpers' bodies, and its launches. All lazily."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ..analysis.facts import Facts, analyse
from ..analysis.flow import Flow, flow_of
from ..analysis.operators import callee_of, operation, wrapped
from ..analysis.value import Value
from ..kernel.definition import KernelDef, Module
from ..kernel.launch import Launch, launches_of
from ..reasons import Refuse

MAX_DEPTH = 4
"""Helpers of helpers that are looked into."""


@dataclass(frozen=True, eq=False)
class Body:
    """The body of the kernel, or of a helper that it calls."""

    module: Module
    kernel: KernelDef
    line: int | None
    """Line of the kernel's own call behind which the helper stands; None in the kernel itself."""

    @cached_property
    def flow(self) -> Flow:
        return flow_of(self.kernel.node)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the function."""
        return tuple(ast.walk(self.kernel.node))

    @cached_property
    def _operations(self) -> dict[ast.Call, str | None]:
        return {}

    @cached_property
    def calls(self) -> tuple[tuple[ast.Call, str], ...]:
        """Every call whose operation is known, by the language's name for it."""
        found = []
        for node in self.nodes:
            if isinstance(node, ast.Call):
                name = self.operation(node)
                if name is not None:
                    found.append((node, name))
        return tuple(found)

    def operation(self, node: ast.AST) -> str | None:
        """The language's name of what a call does; fast variants, and helpers that choose one, count as it."""
        if not isinstance(node, ast.Call):
            return None
        if node not in self._operations:
            self._operations[node] = self._operation(node)
        return self._operations[node]

    def _operation(self, node: ast.Call) -> str | None:
        name = operation(self.module, self.flow, node)
        if name is not None:
            return _plain(name)
        callee = callee_of(self.module, self.flow, node)
        if callee is None:
            return None
        inner = {wrapped(m, k) for m, k in callee.definitions}
        names = {_plain(n) for n in inner if n is not None}
        return names.pop() if len(names) == 1 and None not in inner else None

    def called(self, *names: str) -> list[ast.Call]:
        return [node for node, name in self.calls if name in names]

    def at(self, node: ast.AST) -> int:
        """The kernel's own line for a node of this body."""
        return self.line if self.line is not None else int(getattr(node, "lineno", self.kernel.node.lineno))


@dataclass(frozen=True, eq=False)
class KernelView:
    """One kernel, as detectors see it."""

    facts: Facts

    @property
    def module(self) -> Module:
        return self.facts.module

    @property
    def kernel(self) -> KernelDef:
        return self.facts.kernel

    def of(self, kernel: KernelDef) -> KernelView:
        """The view of another kernel of the file."""
        return KernelView(analyse(self.module, kernel))

    @cached_property
    def own(self) -> Body:
        """The kernel's own body."""
        return Body(self.module, self.kernel, None)

    @property
    def flow(self) -> Flow:
        return self.own.flow

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """The kernel's own body and every helper's that it reaches, each helper once."""
        return (self.own, *self._helpers(self.own, MAX_DEPTH, {id(self.kernel)}))

    def _helpers(self, body: Body, depth: int, seen: set[int]) -> Iterator[Body]:
        if depth == 0:
            return
        for node in body.nodes:
            callee = callee_of(body.module, body.flow, node) if isinstance(node, ast.Call) else None
            for module, helper in callee.definitions if callee is not None else ():
                if id(helper) not in seen:
                    seen.add(id(helper))
                    found = Body(module, helper, body.at(node))
                    yield found
                    yield from self._helpers(found, depth - 1, seen)

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """Launches in the file; none where they cannot be read."""
        return launches_in(self.module, self.kernel)

    @cached_property
    def loops(self) -> tuple[ast.For | ast.While, ...]:
        """Loops of the kernel itself, in source order."""
        found = [n for n in self.own.nodes if isinstance(n, ast.For | ast.While)]
        return tuple(sorted(found, key=lambda n: n.lineno))

    def is_unrolled(self, loop: ast.For | ast.While) -> bool:
        """True for `for i in tl.static_range(n)`: no loop is left of it."""
        return (
            isinstance(loop, ast.For)
            and isinstance(loop.iter, ast.Call)
            and self.own.operation(loop.iter) == "static_range"
        )

    def value(self, node: ast.AST | None) -> Value | None:
        """What the analysis knows of an expression of the kernel itself, in any run."""
        return next((e.values[node] for e in self.facts.runs if node in e.values), None) if node is not None else None

    def is_block(self, node: ast.AST | None) -> bool:
        """True where the expression is known to be a block of more than no dimensions."""
        value = self.value(node)
        return value is not None and bool(value.dims)

    def operation(self, node: ast.AST) -> str | None:
        """The language's name of what an expression of the kernel itself calls."""
        return self.own.operation(node)


@lru_cache(maxsize=128)
def launches_in(module: Module, kernel: KernelDef) -> tuple[Launch, ...]:
    """Launches of a kernel in its file; none where they cannot be read."""
    try:
        return launches_of(module, kernel)
    except Refuse:
        return ()


def _plain(name: str) -> str:
    """`exp` for `extra.libdevice.fast_expf`."""
    short = name.split(".")[-1]
    if "libdevice" in name and short.startswith("fast_") and short.endswith("f"):
        return short.removeprefix("fast_").removesuffix("f")
    return short
