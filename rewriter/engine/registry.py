"""The primitives by the names that skeletons use. One line each; a test holds that every file is listed."""

from __future__ import annotations

from ..primitives import (
    alignment_hints,
    block_pointer_to_mask,
    cache_hints,
    defer_state_load,
    div_to_reciprocal,
    elide_masks,
    exp_to_exp2,
    fuse_axis_loop,
    fuse_axis_widen,
    hoist_producer,
    parallelise_loop,
    persistent_grid,
    pipeline_loads,
    relax_specialization,
    reorder_grid,
    reuse_subexpression,
    set_dot_precision,
    set_launcher_default,
    set_options,
    specialise_clone,
    split_k,
    split_tiles,
    widen_autotune,
    widen_index,
)
from ..primitives.base import Primitive

PRIMITIVES: dict[str, Primitive] = {
    p.name: p
    for p in (
        fuse_axis_widen.PRIMITIVE,
        fuse_axis_loop.PRIMITIVE,
        set_options.PRIMITIVE,
        div_to_reciprocal.PRIMITIVE,
        exp_to_exp2.PRIMITIVE,
        set_dot_precision.PRIMITIVE,
        set_launcher_default.PRIMITIVE,
        widen_index.PRIMITIVE,
        reuse_subexpression.PRIMITIVE,
        pipeline_loads.PRIMITIVE,
        cache_hints.PRIMITIVE,
        elide_masks.PRIMITIVE,
        split_tiles.PRIMITIVE,
        block_pointer_to_mask.PRIMITIVE,
        relax_specialization.PRIMITIVE,
        defer_state_load.PRIMITIVE,
        hoist_producer.PRIMITIVE,
        reorder_grid.PRIMITIVE,
        persistent_grid.PRIMITIVE,
        parallelise_loop.PRIMITIVE,
        split_k.PRIMITIVE,
        alignment_hints.PRIMITIVE,
        specialise_clone.PRIMITIVE,
        widen_autotune.PRIMITIVE,
    )
}
