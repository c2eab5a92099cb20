"""Sizes of a kernel's tiles, as far as they are known, and the registers they take: to rank, never to refuse."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from ..conditions.context import FusionContext
from ..kernel.idioms import follow
from ..kernel.tile import trace_tile
from .candidate import KEPT, Setting

UNKNOWN_WIDTH = 128
"""Taken for a block dimension whose size is not known."""


@dataclass(frozen=True)
class KernelSizes:
    """What is known of the sizes along a fused axis."""

    tile: int | None = None
    """Lanes of the tile as launched."""
    dimension: int | None = None
    """Elements along the axis."""
    other: int = 1
    """Elements of the largest tile per lane of the axis: the rest of its block."""

    def lanes(self, tile: Setting) -> int:
        """Lanes of a tile setting."""
        if isinstance(tile, int):
            return tile
        if tile == KEPT:
            return self.tile or 32
        return _power(self.dimension) if self.dimension else 4 * (self.tile or 32)

    def state_registers(self, tile: Setting, warps: int) -> float:
        """Fp32 registers a thread for the largest block: elements / (32 lanes * warps)."""
        return self.lanes(tile) * self.other / (32 * warps)

    def wider_tiles(self, tried: tuple[int, ...]) -> tuple[Setting, ...]:
        """Wider tiles than the launched one, below the whole dimension, and the whole."""
        whole = _power(self.dimension) if self.dimension else None
        low = self.tile or 0
        return (*(t for t in tried if t > low and (whole is None or t < whole)), "whole")

    def loop_tiles(self, tried: tuple[int, ...]) -> tuple[Setting, ...]:
        """Tiles for a loop: as launched, and every other below the whole dimension."""
        whole = _power(self.dimension) if self.dimension else None
        return (KEPT, *(t for t in tried if t != self.tile and (whole is None or t < whole)))

    def tile_counts(self, tile: Setting) -> tuple[Setting, ...]:
        """Tiles a program: two, four, ..., and all of them."""
        if self.dimension is None:
            return (2, 4, "all")
        count = -(-self.dimension // self.lanes(tile))
        return (*(n for n in (2, 4, 8) if n < count), "all")


def sizes_of(context: FusionContext | None, known: Mapping[str, int]) -> KernelSizes:
    """Sizes from the launch (`known`: values of the kernel's parameters, where one was recorded) or from the source."""
    if context is None:
        return KernelSizes()
    tile = known.get(context.tile) or _literal_tile(context)
    parameter = context.dimension_parameter() if context.counts else None
    dimension = known.get(parameter) if parameter is not None else None
    return KernelSizes(tile, dimension, _largest_rest(context, known))


def _largest_rest(context: FusionContext, known: Mapping[str, int]) -> int:
    """The largest product of a block's other dimensions, over blocks along the axis."""
    largest = 1
    for access in context.facts.accesses:
        dims = access.pointer.dims
        if dims is None or context.axis not in access.pointer.lanes:
            continue
        rest = 1
        for dim in dims:
            if context.axis not in dim.lanes:
                rest *= _size(dim.size, known)
        largest = max(largest, rest)
    return largest


def _size(key: str | None, known: Mapping[str, int]) -> int:
    if key is None:
        return UNKNOWN_WIDTH
    if key.isdigit():
        return int(key)
    return known.get(key, UNKNOWN_WIDTH)


def _literal_tile(context: FusionContext) -> int | None:
    """The tile where the launcher writes it as a number, or as a cap `min(32, ...)`."""
    launch = context.launches[0]
    argument = launch.arguments.get(context.tile)
    nodes = [follow(context.module, argument)[0]] if argument is not None else []
    nodes += [b.value for b in trace_tile(context.module, launch, context.tile).sources if b.value is not None]
    return next((found for node in nodes if (found := number(node)) is not None), None)


def number(node: ast.expr) -> int | None:
    """A number, the cap of a `min`, or what a launcher takes where its argument is None."""
    match node:
        case ast.Constant(value=int(value)) if type(value) is int:
            return value
        case ast.Call(func=ast.Name(id="min"), args=arguments):
            return next((a.value for a in arguments if isinstance(a, ast.Constant) and type(a.value) is int), None)
        case ast.IfExp(test=ast.Compare(left=ast.Name(), ops=[ast.IsNot()], comparators=[ast.Constant(value=None)])):
            return number(node.orelse)
        case ast.IfExp(test=ast.Compare(left=ast.Name(), ops=[ast.Is()], comparators=[ast.Constant(value=None)])):
            return number(node.body)
    return None


def _power(value: int) -> int:
    return 1 << (value - 1).bit_length()
