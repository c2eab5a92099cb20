"""own_grid: the grids of a kernel's launches serve nothing else; how their sizes are written elsewhere."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from ..kernel.count import reads_of
from ..kernel.definition import Module
from ..kernel.grid import Grid, GridChoice, grid_site, read_grid
from ..kernel.idioms import ceiling_division
from ..kernel.launch import Launch
from ..kernel.plain import is_plain, same_at_launch, written
from ..kernel.scope import reaching, within
from ..reasons import Refuse, refuse
from .context import same_value


def own_grids(module: Module, launches: Sequence[Launch]) -> dict[Launch, Grid]:
    """The grid of every launch. Raises Refuse: unreadable_launch, tile_shared where a grid is read elsewhere too."""
    grids = {launch: read_grid(module, launch) for launch in launches}
    ranks = {len(c.dims) for grid in grids.values() for c in grid.choices}
    if len(ranks) > 1:
        why = "its launches differ in the number of grid dimensions"
        raise refuse("unreadable_launch", launches[0].call, kernel=launches[0].kernel.name, why=why)
    places = [x.grid for x in launches if x.grid is not None]
    for launch, grid in grids.items():
        for binding in {b for c in grid.choices for b in c.bindings}:
            inside = [*places, *(b.value for c in grid.choices for b in c.bindings if b.value is not None)]
            for node in reads_of(module, (binding,), launch.function):
                if not any(within(module.source, node, place) for place in inside):
                    raise refuse(
                        "tile_shared",
                        launch.call,
                        also=[node],
                        tile=ast.unparse(node),
                        what="something other than this kernel's grid",
                        line=node.lineno,
                    )
    return grids


def size_at_launch(module: Module, launch: Launch, choice: GridChoice, axis: int) -> ast.expr | None:
    """The size of an axis as an expression that means the same at the launch; None where there is none."""
    dim = choice.dims[axis]
    if any(isinstance(n, ast.Name) and n.id == choice.meta for n in ast.walk(dim)):
        return None
    return dim if is_plain(module, dim) and same_at_launch(module, launch, dim) else None


def at_launch(module: Module, launch: Launch, choice: GridChoice, node: ast.expr) -> str | None:
    """A part of the grid as text that means the same at the launch, `META["BV"]` replaced by the argument BV."""
    replaced = _Arguments(module, launch, choice.meta)
    plain = replaced.visit(copy.deepcopy(node))
    if any(isinstance(n, ast.Name) and n.id == choice.meta for n in ast.walk(plain)):
        return None
    site = grid_site(module, launch, node)
    for name in (n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id != choice.meta):
        if set(reaching(module.source, name.id, name, site)) != set(reaching(module.source, name.id, launch.call)):
            return None
    if not is_plain(module, node):
        return None
    return ast.unparse(plain) if replaced.done else written(module, node)


class _Arguments(ast.NodeTransformer):
    def __init__(self, module: Module, launch: Launch, meta: str | None) -> None:
        self.module, self.launch, self.meta, self.done = module, launch, meta, False

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == self.meta and isinstance(node.slice, ast.Constant):
            argument = self.launch.arguments.get(str(node.slice.value))
            if argument is not None and is_plain(self.module, argument):
                self.done = True
                return argument
        return self.generic_visit(node)


def size_in_kernel(module: Module, launch: Launch, choice: GridChoice, axis: int, language: str) -> str | None:
    """`tl.cdiv(V, BV)` for a dimension `cdiv(V, META["BV"])`, V being an argument of the launch; None for others."""
    division = ceiling_division(module, choice.dims[axis])
    if division is None:
        return None
    above, below = (
        _parameter(module, launch, division.dimension, choice),
        _parameter(module, launch, division.tile, choice),
    )
    if above is None or below is None:
        return None
    return f"{above} // {below}" if division.floor else f"{language}.cdiv({above}, {below})"


def _parameter(module: Module, launch: Launch, node: ast.expr, choice: GridChoice) -> str | None:
    """The kernel's parameter that holds what a host expression is."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == choice.meta:
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return key if isinstance(key, str) and key in launch.kernel.parameter_names else None
    for name, argument in launch.arguments.items():
        if same_at_launch(module, launch, node) and same_value(module, argument, node):
            return name
    return None


def unreadable(launch: Launch, why: str) -> Refuse:
    """The refusal of a launch that cannot be read."""
    return refuse("unreadable_launch", launch.call, kernel=launch.kernel.name, why=why)
