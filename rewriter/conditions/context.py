"""What every condition of V-tile fusion looks at: one kernel, one axis, its tile and its launches."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from ..analysis.axes import Axis
from ..analysis.facts import Facts
from ..analysis.lanes import LaneReport
from ..kernel.count import Count
from ..kernel.definition import KernelDef, Module
from ..kernel.idioms import factors, follow, identity
from ..kernel.launch import Launch


@dataclass(frozen=True)
class FusionContext:
    """One choice of what to fuse."""

    facts: Facts
    axis: Axis
    name: str
    """What the kernel calls the axis."""
    tile: str
    """The constexpr parameter that sizes the tiles."""
    launches: tuple[Launch, ...]
    counts: dict[Launch, tuple[Count, ...]]
    """How each launch counts the tiles, in every form of its grid."""
    lanes: LaneReport

    @property
    def module(self) -> Module:
        return self.facts.module

    @property
    def kernel(self) -> KernelDef:
        return self.facts.kernel

    def is_dimension(self, limit: str, launch: Launch) -> bool:
        """True where a mask's limit (a parameter's name, or a number) is the dimension that the grid counts."""
        return any(self._same(limit, launch, count.dimension) for count in self.counts[launch])

    @property
    def dimension(self) -> ast.expr:
        """The host expression of the dimension that the first launch tiles."""
        return self.counts[self.launches[0]][0].dimension

    def _same(self, limit: str, launch: Launch, dimension: ast.expr) -> bool:
        if limit.lstrip("-").isdigit():
            value = follow(self.module, dimension)[0]
            return isinstance(value, ast.Constant) and value.value == int(limit)
        argument = launch.arguments.get(limit)
        if argument is not None:
            return same_value(self.module, argument, dimension)
        return "*" in limit and self._same_product(limit.split("*"), launch, dimension)

    def _same_product(self, limit: list[str], launch: Launch, dimension: ast.expr) -> bool:
        """True where the kernel multiplies what the launcher multiplies: `M * N` of arguments M and N."""
        found: list[ast.expr] = []
        for factor in limit:
            argument = ast.Constant(int(factor)) if factor.isdigit() else launch.arguments.get(factor)
            if argument is None:
                return False
            found.append(argument)
        return _factors(self.module, found) == _factors(self.module, [dimension])

    def dimension_parameter(self) -> str | None:
        """The kernel parameter that receives the counted dimension, where there is one."""
        launch = self.launches[0]
        return next((p for p in self.kernel.parameter_names if self.is_dimension(p, launch)), None)


def _factors(module: Module, nodes: Iterable[ast.expr]) -> tuple[int, Counter[Hashable]]:
    """The factors of a product of host expressions, names followed: the number, and how often there is each other."""
    number, others = 1, Counter[Hashable]()
    for node in nodes:
        value = follow(module, node)[0]
        for part in factors(value):
            if isinstance(part, ast.Constant) and type(part.value) is int:
                number *= part.value
            elif part is value:
                others[identity(module, part)] += 1
            else:
                inner = _factors(module, [part])
                number, others = number * inner[0], others + inner[1]
    return number, others


def same_value(module: Module, a: ast.expr, b: ast.expr) -> bool:
    """True where two host expressions surely have the same value, names followed to what they were assigned."""
    if identity(module, a) == identity(module, b):
        return True
    left, right = follow(module, a)[0], follow(module, b)[0]
    return identity(module, left) == identity(module, right)
