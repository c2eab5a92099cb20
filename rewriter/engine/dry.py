"""Whether a skeleton would apply, without making a candidate: its first primitive, tried and thrown away."""

from __future__ import annotations

from collections.abc import Mapping

from skel.store.schema import Refusal

from ..kernel.definition import KernelDef, Module
from ..reasons import Refuse
from .registry import PRIMITIVES

Attempt = tuple[str, Mapping[str, object]]
"""A primitive and its arguments."""

ATTEMPTS: dict[str, tuple[Attempt, ...]] = {
    "fuse_vtiles": (("fuse_axis_widen", {"tile": "whole"}), ("fuse_axis_loop", {"tiles_per_program": "all"})),
    "loop_tiles": (("fuse_axis_loop", {"tiles_per_program": "all", "merge": "no"}),),
    "dot_tf32x3": (("set_dot_precision", {"precision": "tf32x3"}),),
    "int64_offsets": (("widen_index", {}),),
    "defer_state_load": (("defer_state_load", {"form": "direct"}), ("defer_state_load", {"form": "first_round"})),
}
"""Of skeletons whose first primitive has another name, or that have several ways: any one will do."""


def applicable(skeleton: str, module: Module, kernel: KernelDef) -> tuple[bool | None, tuple[Refusal, ...]]:
    """True where some way applies; False with every reason where none does; None for advice, which has no way."""
    attempts = [a for a in ATTEMPTS.get(skeleton, ((skeleton, {}),)) if a[0] in PRIMITIVES]
    if not attempts:
        return None, ()
    refusals: list[Refusal] = []
    for name, arguments in attempts:
        try:
            edits = PRIMITIVES[name].apply(module, kernel, **arguments)
        except Refuse as refused:
            refusals += [r for r in refused.refusals if r not in refusals]
            continue
        if edits:
            return True, ()
    return False, tuple(refusals)
