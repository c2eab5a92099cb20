"""What the host says of a kernel's axes: how often an axis is walked, where a tile comes from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from ..analysis.axes import Axis
from ..kernel.definition import Module
from ..kernel.grid import read_grid
from ..kernel.idioms import follow, identity, next_power_of_2
from ..kernel.launch import Launch
from ..kernel.scope import bindings_in
from ..kernel.tile import trace_tile
from ..reasons import Refuse
from .view import KernelView


def grid_dims(view: KernelView, launch: Launch) -> tuple[ast.expr, ...]:
    """Dimensions of a launch's grid; none where it cannot be read."""
    try:
        return read_grid(view.module, launch).dims
    except Refuse:
        return ()


def grid_meta(view: KernelView, launch: Launch) -> str | None:
    """The name of the grid function's argument, where the grid is one."""
    try:
        return read_grid(view.module, launch).meta
    except Refuse:
        return None


@lru_cache(maxsize=64)
def is_one_program(view: KernelView) -> bool:
    """True where every launch starts one program, by a grid of ones."""
    grids = [grid_dims(view, launch) for launch in view.launches]
    return bool(grids) and all(
        bool(dims) and all(isinstance(d, ast.Constant) and d.value == 1 for d in dims) for dims in grids
    )


@lru_cache(maxsize=128)
def is_single_tile(view: KernelView, axis: Axis) -> bool:
    """True where every launch gives the axis one tile: the whole dimension, up to a cap that it never reaches."""
    tiles = view.facts.tile_sizes(axis)
    if len(tiles) > 1:
        return is_row_index(view, axis)
    return (
        bool(tiles)
        and tiles[0] in view.kernel.constexprs
        and bool(view.launches)
        and all(_is_whole(view, launch, tiles[0]) for launch in view.launches)
    )


def is_row_index(view: KernelView, axis: Axis) -> bool:
    """True for an index of rows that lie side by side, `h * D + d` and `h * L + l`: it seems to be tiled by several
    sizes, and each is at every launch a dimension as it is. One size alone may be a chunk's, even out of a shape."""
    tiles = view.facts.tile_sizes(axis)
    return (
        len(tiles) > 1
        and bool(view.launches)
        and all(
            isinstance(argument := launch.arguments.get(tile), ast.expr) and _is_dimension(view.module, argument)
            for launch in view.launches
            for tile in tiles
        )
    )


def _is_whole(view: KernelView, launch: Launch, tile: str) -> bool:
    sizes = list(tile_values(view, launch, tile))
    return bool(sizes) and all(_covers(view.module, launch, size) for size in sizes)


def tile_values(view: KernelView, launch: Launch, tile: str) -> Iterator[ast.expr]:
    """The expressions that a launch's tile may be; nothing where it cannot be followed."""
    try:
        binding = trace_tile(view.module, launch, tile)
    except Refuse:
        return
    if binding.kind in ("literal", "expression") and binding.argument is not None:
        yield binding.argument
    for source in binding.sources:
        if source.value is None or source.kind not in ("assign", "unpack"):
            return
        yield from _arms(source.value)


@lru_cache(maxsize=64)
def spans_dimension(view: KernelView, size: str) -> bool:
    """False where some launch shows that a block's size is a number of its own, such as a chunk's length or a tuned
    tile; True where it follows from a dimension, or no launch tells."""
    if view.kernel.parameter(size) is None:
        return not size.isdigit()
    for launch in view.launches:
        try:
            binding = trace_tile(view.module, launch, size)
        except Refuse:
            continue
        if binding.kind in ("literal", "autotune", "parameter", "constant", "default", "param_default"):
            return False
        values = [b.value for b in binding.sources] or [binding.argument]
        if binding.kind in ("name", "expression", "call") and not all(
            v is None or _of_dimension(view.module, v) for v in values
        ):
            return False
    return True


def _of_dimension(module: Module, value: ast.expr) -> bool:
    """A power of two above something, or taken from a shape."""
    return any(
        next_power_of_2(module, n) is not None or (isinstance(n, ast.Attribute) and n.attr == "shape")
        for n in ast.walk(value)
        if isinstance(n, ast.expr)
    )


def _arms(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.IfExp):
        yield from _arms(node.body)
        yield from _arms(node.orelse)
    else:
        yield node


def _covers(module: Module, launch: Launch, size: ast.expr) -> bool:
    """`next_power_of_2(D)`, alone, above a floor, or below a cap that an assertion keeps D under."""
    if next_power_of_2(module, size) is not None:
        return True
    match size:
        case ast.Call(func=ast.Name(id="max"), args=[first, second], keywords=[]):
            return _covers(module, launch, first) or _covers(module, launch, second)
        case ast.Call(func=ast.Name(id="min"), args=[first, second], keywords=[]):
            return any(
                _covers(module, launch, whole) and _never_reached(module, launch, whole, cap)
                for whole, cap in ((first, second), (second, first))
            )
    return False


def _is_dimension(module: Module, size: ast.expr) -> bool:
    """`x.shape[i]`, `x.size(i)`: a row of the tensor, not a tile of it."""
    value = follow(module, size)[0]
    match value:
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=index):
            return not isinstance(index, ast.Slice)
        case ast.Call(func=ast.Attribute(attr="size"), args=[_]):
            return True
    return False


def _never_reached(module: Module, launch: Launch, whole: ast.expr, cap: ast.expr) -> bool:
    dimension = next_power_of_2(module, whole)
    limit = follow(module, cap)[0]
    if (
        dimension is None
        or not (isinstance(limit, ast.Constant) and isinstance(limit.value, int))
        or launch.function is None
    ):
        return False
    wanted = identity(module, dimension)
    for left, operator, right, refuted in _claims(launch.function):
        if not (isinstance(right, ast.Constant) and isinstance(right.value, int)) or identity(module, left) != wanted:
            continue
        if right.value <= limit.value and isinstance(operator, (ast.Gt, ast.GtE) if refuted else (ast.Lt, ast.LtE)):
            return True
    return False


def _claims(function: ast.AST) -> Iterator[tuple[ast.expr, ast.cmpop, ast.expr, bool]]:
    """Comparisons that a function asserts, or raises on (`refuted`)."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            yield from ((*c, False) for c in _compares(node.test))
        elif isinstance(node, ast.If) and any(isinstance(s, ast.Raise) for s in node.body):
            yield from ((*c, True) for c in _compares(node.test))


def _compares(test: ast.expr) -> Iterator[tuple[ast.expr, ast.cmpop, ast.expr]]:
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield node.left, node.ops[0], node.comparators[0]


def assigned_values(function: ast.AST, name: str) -> list[ast.expr]:
    """Every value that a function assigns to a name."""
    body = getattr(function, "body", [])
    return [b.value for b in bindings_in(body, name) if b.value is not None]
