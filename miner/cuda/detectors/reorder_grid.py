"""reorder_grid. Used: a block's index is decoded into two tile indices.

group = i / per_group; in = i % per_group;                   a swizzle: groups of rows or columns share loads,
n = min(size, total - group * size); in / n, in % n          and the last group may be smaller
row = blockIdx.x / tiles, column = blockIdx.x % tiles        a flat grid, where the divisor counts tiles
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skel.rewriter.detectors.base import Seen

from ..expressions import bare, binaries, definitions, line_of, made_of, names_in
from ..functions import CudaFunction, below, plain, text_of
from ..index import CudaDetector, Index

if TYPE_CHECKING:
    from tree_sitter import Node


def swizzles(function: CudaFunction) -> list[Seen]:
    """Walks in groups, in the function itself."""
    why = "walks tiles in groups, so that neighbours share loads"
    pairs = _pairs(function)
    return [
        Seen(line_of(n), why) for n, left, right in pairs if _is_rest(function, left) and _is_least(function, right)
    ][:1]


def flat(function: CudaFunction) -> list[Seen]:
    """Flat grids, in the function itself."""
    return [Seen(line_of(node), "decodes two tile indices from one block index") for node, left, right in
            _pairs(function) if _is_block(function, left) and _counts_tiles(function, right)][:1]  # fmt: skip


def _pairs(function: CudaFunction) -> list[tuple[Node, Node, Node]]:
    """Divisions `a / b` beside which the function also has `a % b`."""
    rests = {(plain(bare(left)), plain(bare(right))) for _, left, right in binaries(function, "%")}
    return [(node, bare(left), bare(right)) for node, left, right in binaries(function, "/")
            if (plain(bare(left)), plain(bare(right))) in rests]  # fmt: skip


def _is_rest(function: CudaFunction, node: Node) -> bool:
    """A name that was given a remainder: an index within a group."""
    return any(
        bare(v).type == "binary_expression" and "%" in plain(v) for v in definitions(function).get(plain(node), ())
    )


def _is_least(function: CudaFunction, node: Node) -> bool:
    """A name that was given the smaller of a size and what is left."""
    for value in definitions(function).get(plain(node), ()):
        for inner in below(value):
            if (
                inner.type == "call_expression"
                and text_of(inner.child_by_field_name("function")).split("::")[-1] == "min"
            ):
                return "-" in plain(inner)
    return False


def _is_block(function: CudaFunction, node: Node) -> bool:
    found = made_of(function, node)
    return any(n.startswith("blockIdx.") for n in found) and not any(n.startswith("threadIdx.") for n in found)


def _counts_tiles(function: CudaFunction, node: Node) -> bool:
    """True where the divisor is a size divided by a tile's, rounded up."""
    values = [node, *(v for name in names_in(node) for v in definitions(function).get(name, ()))]
    return any("ceil_div" in plain(v) or "cdiv" in plain(v).lower() or "/" in plain(v) for v in values)


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    return index.through(function, "swizzles", swizzles) or index.through(function, "flat grids", flat)


DETECTOR = CudaDetector("reorder_grid", _uses)
