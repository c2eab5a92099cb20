"""The inverses of techniques, by name."""

from __future__ import annotations

from ..primitives import block_pointer_to_mask
from . import (
    change_dot_precision,
    drop_alignment_hints,
    drop_cache_hints,
    drop_pipelining,
    exp2_to_exp,
    mask_again,
    rsqrt_to_division,
    specialize_again,
    ungroup_grid,
)
from .base import Inverse

INVERSES: tuple[Inverse, ...] = (
    Inverse("exp2_to_exp", "exp_to_exp2", exp2_to_exp.PRIMITIVE),
    Inverse("rsqrt_to_division", "div_to_reciprocal", rsqrt_to_division.PRIMITIVE),
    Inverse("drop_cache_hints", "cache_hints", drop_cache_hints.PRIMITIVE),
    Inverse("drop_alignment_hints", "alignment_hints", drop_alignment_hints.PRIMITIVE),
    Inverse("drop_pipelining", "pipeline_loads", drop_pipelining.PRIMITIVE),
    Inverse("dots_in_tf32", "dot_tf32x3", change_dot_precision.PRIMITIVE, {"precision": "tf32"}),
    Inverse("dots_in_ieee", "dot_tf32x3", change_dot_precision.PRIMITIVE, {"precision": "ieee"}),
    Inverse("mask_again", "elide_masks", mask_again.PRIMITIVE),
    Inverse("ungroup_grid", "reorder_grid", ungroup_grid.PRIMITIVE),
    Inverse("specialize_again", "relax_specialization", specialize_again.PRIMITIVE),
    Inverse("pointers_and_masks", "block_pointer_to_mask", block_pointer_to_mask.PRIMITIVE),
)
