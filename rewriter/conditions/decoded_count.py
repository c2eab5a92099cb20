"""count_follows_decode: what the kernel takes an axis out of a flattened program id by is the number of its tiles, and
stays it with another tile.

A kernel that reads `pid % NT` is right only while NT is the number of tiles that the grid holds. Where NT is computed
in the kernel from the tile, it follows; where it is passed, the launch must compute it from the tile that it passes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ..analysis.axes import Axis
from ..analysis.facts import Facts
from ..analysis.syntax import symbols_in
from ..kernel.count import Count
from ..kernel.definition import Module
from ..kernel.idioms import ceiling_division, follow, identity
from ..kernel.launch import Launch
from ..kernel.tile import trace_tile
from ..reasons import refuse


def require_decoded_by_count(facts: Facts, axis: Axis, tile: str, counts: Mapping[Launch, Sequence[Count]]) -> None:
    """Raises Refuse(grid_not_tied_to_tile) where another tile could leave the kernel's decoding as it was."""
    for factor in axis.span:
        names = symbols_in(factor)
        if tile in names:
            continue
        for launch, counted in counts.items():
            if factor not in facts.kernel.parameter_names or not _counts(facts.module, launch, factor, tile, counted):
                where = f"{facts.axis_name(axis)}, which the kernel takes out of a program id by {factor},"
                raise refuse("grid_not_tied_to_tile", launch.call, axis=where, tile=tile)


def _counts(module: Module, launch: Launch, parameter: str, tile: str, counted: Sequence[Count]) -> bool:
    """True where the launch passes for `parameter` the ceiling of the dimension over the tile that it passes."""
    argument, passed = launch.arguments.get(parameter), _passed(module, launch, tile)
    if argument is None or passed is None:
        return False
    division = ceiling_division(module, follow(module, argument)[0])
    if division is None or identity(module, division.tile) != identity(module, passed):
        return False
    sizes = {identity(module, c.dimension) for c in counted}
    return sizes == {identity(module, division.dimension)} and {c.floor_division for c in counted} == {division.floor}


def _passed(module: Module, launch: Launch, tile: str) -> ast.expr | None:
    """What the launch passes as the tile: its argument, or the entry of a dict that it takes it from."""
    binding = trace_tile(module, launch, tile)
    if binding.container is None or not binding.through_splat:
        return binding.argument
    return binding.entry(launch.call)
