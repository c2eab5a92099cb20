"""stream_rows. Used: in one loop, a warp loads a row in vectors, reduces it by shuffles, and writes it back, with no
barrier of the block in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skel.rewriter.detectors.base import Seen

from ..expressions import inside, line_of
from ..functions import CudaFunction, call_of, plain
from ..index import CudaDetector, Index

if TYPE_CHECKING:
    from tree_sitter import Node

_AROUND = ("pointer_expression", "subscript_expression", "parenthesized_expression")
_BARRIERS = frozenset({"__syncthreads", "syncthreads"})


def shuffles(function: CudaFunction) -> list[Seen]:
    """Shuffles of a warp in the function itself."""
    return [Seen(call.line, "shuffles") for call in function.calls if call.name.startswith("__shfl_")]


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    if not function.is_kernel:
        return []
    found = []
    reached = index.reached(function)
    for loop in function.loops:
        calls = [call for call in function.calls if inside(call.node, loop)]
        if any(call.name in _BARRIERS for call in calls):
            continue
        reduces = any(
            call.name.startswith("__shfl_")
            or any(
                known is call and all(index.through(f, "shuffles", shuffles) for f in targets)
                for known, targets in reached
            )
            for call in calls
        )
        vectors = _vectors(function, loop)
        if reduces and any(map(_is_read, vectors)) and not all(map(_is_read, vectors)):
            found.append(Seen(line_of(loop), "streams rows: loads a vector, reduces it in the warp, writes it back"))
    return found[:1]


def _vectors(function: CudaFunction, loop: Node) -> list[Node]:
    """Casts in the loop to a pointer to vectors of four."""
    found = []
    for node in function.of("call_expression"):
        call = call_of(node)
        if call is not None and call.name == "reinterpret_cast" and inside(node, loop) and "4" in plain(node):
            found.append(node)
    return found


def _is_read(node: Node) -> bool:
    """False where the access that the cast stands in is the target of an assignment."""
    child, parent = node, node.parent
    while parent is not None and parent.type in _AROUND:
        child, parent = parent, parent.parent
    return not (
        parent is not None and parent.type == "assignment_expression" and parent.child_by_field_name("left") == child
    )


DETECTOR = CudaDetector("stream_rows", _uses)
