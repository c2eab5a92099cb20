"""warp_specialise. Used: branches of one kernel, chosen by warp, copy in one arm and multiply in another, or give
registers up in one and take them in another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skel.rewriter.detectors.base import Seen

from ..expressions import inside, line_of, made_of
from ..functions import Call, CudaFunction
from ..index import CudaDetector, Index
from .bulk_copy import all_copies

if TYPE_CHECKING:
    from tree_sitter import Node

_GIVES, _TAKES = frozenset({"warpgroup_reg_dealloc"}), frozenset({"warpgroup_reg_alloc"})
_WARP = frozenset({"threadIdx", "threadIdx.x", "canonical_warp_idx_sync", "canonical_warp_group_idx", "get_warp_idx"})
"""What a warp's number is computed from."""


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    if not function.is_kernel:
        return []
    found = []
    for node in function.of("if_statement"):
        arms = _arms(node)
        if len(arms) < 2 or not _by_warp(function, node):
            continue
        roles = [_roles(function, index, arm) for arm in arms]
        for first, second, why in (("gives", "takes", "one arm gives registers up, another takes them"),
                                   ("copies", "multiplies", "one arm copies, another multiplies")):  # fmt: skip
            if any(first in a and second in b and second not in a for a in roles for b in roles if a is not b):
                found.append(Seen(line_of(node), f"warps have roles: {why}"))
                break
    return found[:1]


def _arms(node: Node) -> list[Node]:
    """The arms of an `if`, with those of `else if` beside them."""
    arms = []
    while True:
        body, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        if body is not None:
            arms.append(body)
        if other is None:
            return arms
        inner = next((n for n in other.named_children if n.type == "if_statement"), None)
        if inner is None:
            return [*arms, other]
        node = inner


def _by_warp(function: CudaFunction, node: Node) -> bool:
    return bool(_WARP & made_of(function, node.child_by_field_name("condition")))


def _roles(function: CudaFunction, index: Index, arm: Node) -> set[str]:
    roles = set()
    for call in function.calls:
        if inside(call.node, arm):
            roles |= _role(function, index, call)
    for line, text in function.assembly:
        if arm.start_point[0] < line <= arm.end_point[0] + 1:
            if "setmaxnreg.dec" in text:
                roles.add("gives")
            elif "setmaxnreg.inc" in text:
                roles.add("takes")
            elif "cp.async.bulk." in text:
                roles.add("copies")
    return roles


def _role(function: CudaFunction, index: Index, call: Call) -> set[str]:
    if call.name in _GIVES:
        return {"gives"}
    if call.name in _TAKES:
        return {"takes"}
    if "mma" in call.name.lower():
        return {"multiplies"}
    targets = next((found for known, found in index.reached(function) if known is call), [])
    if targets and all(all_copies(one, index) for one in targets):
        return {"copies"}
    return set()


DETECTOR = CudaDetector("warp_specialise", _uses)
