"""Parameters whose argument follows from the tile, such as the number of tiles: they change when the tile does."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ..analysis.facts import Facts
from ..kernel.count import Count
from ..kernel.definition import Module
from ..kernel.idioms import identity
from ..kernel.launch import Launch
from ..kernel.scope import reaching

MAX_STEPS = 6
"""Assignments followed from an argument towards the tile."""


def tile_arguments(
    facts: Facts, launches: Sequence[Launch], counts: Mapping[Launch, Sequence[Count]], tile: str
) -> frozenset[str]:
    """Kernel parameters, other than `tile` itself, that some launch computes from the tile or from the tile count.

    Tensors do not count: what is read of their shapes is for the conditions on the launcher.
    """
    module = facts.module
    pointers = frozenset(base for access in facts.accesses for base in access.pointer.bases)
    return frozenset(
        name
        for launch in launches
        for name, argument in launch.arguments.items()
        if name != tile
        and name not in pointers
        and not isinstance(argument, ast.Constant)
        and _follows(module, argument, _Wanted(module, launch, counts.get(launch, ()), tile), MAX_STEPS)
    )


class _Wanted:
    """What an expression must hold to follow from the tile of one launch."""

    def __init__(self, module: Module, launch: Launch, counts: Sequence[Count], tile: str) -> None:
        argument = launch.arguments.get(tile)
        named = argument is not None and not isinstance(argument, ast.Constant)
        self.tile = identity(module, argument) if argument is not None and named else None
        self.divisions = {ast.unparse(c.count_node) for c in counts}
        self.names = {id(b.node) for c in counts for b in c.bindings}
        self.module = module

    def holds(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name | ast.Subscript | ast.Attribute) and self.tile is not None:
            if identity(self.module, node) == self.tile:
                return True
        return ast.unparse(node) in self.divisions


def _follows(module: Module, node: ast.expr, wanted: _Wanted, steps: int) -> bool:
    for part in ast.walk(node):
        if not isinstance(part, ast.expr):
            continue
        if wanted.holds(part):
            return True
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and steps:
            for binding in reaching(module.source, part.id, part):
                if id(binding.node) in wanted.names:
                    return True
                if binding.value is not None and _follows(module, binding.value, wanted, steps - 1):
                    return True
    return False
