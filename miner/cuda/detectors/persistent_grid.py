"""persistent_grid. Used: a block takes every n-th piece of work, of n blocks.

for (i = blockIdx.x; i < n; i += gridDim.x)        a stride by the number of blocks
next = (++round) * blocks + blockIdx.x             the same, counted in rounds
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skel.rewriter.detectors.base import Seen

from ..expressions import bare, binaries, declared, definitions, line_of, made_of, names_in, operator_of
from ..functions import CudaFunction, below
from ..index import CudaDetector, Index

if TYPE_CHECKING:
    from tree_sitter import Node


def direct(function: CudaFunction) -> list[Seen]:
    """Strides in the function itself."""
    found = []
    for node in function.of("assignment_expression"):
        target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator_of(node) != "+=" or target is None or value is None or target.type != "identifier":
            continue
        starts = definitions(function).get(declared(target), [])
        steps = {n for n in made_of(function, value) if n.startswith("gridDim.")}
        first = {n for start in starts for n in made_of(function, start) if n.startswith("blockIdx.")}
        if steps and {n[-1] for n in steps} & {n[-1] for n in first} and _loops(node):
            found.append(Seen(line_of(node), "takes work in strides of the number of blocks"))
    for node, left, right in binaries(function, "+"):
        for rounds, block in ((bare(left), bare(right)), (bare(right), bare(left))):
            # The cheap questions first: of a sum of thousands of terms, all names of each part would take minutes.
            if rounds.type == "binary_expression" and operator_of(rounds) == "*" and "blockIdx.x" in names_in(block):
                if any(n.type == "update_expression" for n in below(rounds)):
                    found.append(Seen(line_of(node), "takes the next piece of work a round of blocks further on"))
    return found


def _loops(node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.type != "function_definition":
        if parent.type in ("for_statement", "while_statement", "do_statement"):
            return True
        parent = parent.parent
    return False


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    return index.through(function, "strides", direct)


DETECTOR = CudaDetector("persistent_grid", _uses)
