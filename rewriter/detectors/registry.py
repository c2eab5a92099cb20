"""Every detector, by the skeleton that it looks for."""

from __future__ import annotations

from . import (
    alignment_hints,
    bulk_copy,
    cache_hints,
    defer_state_load,
    dependent_launch,
    div_to_reciprocal,
    dot_tf32x3,
    elide_masks,
    exp_to_exp2,
    fuse_epilogue,
    fuse_prologue,
    fuse_vtiles,
    hoist_producer,
    int64_offsets,
    loop_tiles,
    parallelise_loop,
    persistent_grid,
    pipeline_loads,
    relax_specialization,
    reorder_grid,
    replay_ring,
    reuse_subexpression,
    save_statistic,
    specialise_clone,
    split_k,
    split_kv,
    split_tiles,
    strided_inputs,
    widen_autotune,
)
from .base import Detector

DETECTORS: dict[str, Detector] = {
    d.skeleton: d
    for d in (
        alignment_hints.DETECTOR,
        bulk_copy.DETECTOR,
        cache_hints.DETECTOR,
        defer_state_load.DETECTOR,
        dependent_launch.DETECTOR,
        div_to_reciprocal.DETECTOR,
        dot_tf32x3.DETECTOR,
        elide_masks.DETECTOR,
        exp_to_exp2.DETECTOR,
        fuse_epilogue.DETECTOR,
        fuse_prologue.DETECTOR,
        fuse_vtiles.DETECTOR,
        hoist_producer.DETECTOR,
        int64_offsets.DETECTOR,
        loop_tiles.DETECTOR,
        parallelise_loop.DETECTOR,
        persistent_grid.DETECTOR,
        pipeline_loads.DETECTOR,
        relax_specialization.DETECTOR,
        reorder_grid.DETECTOR,
        replay_ring.DETECTOR,
        reuse_subexpression.DETECTOR,
        save_statistic.DETECTOR,
        specialise_clone.DETECTOR,
        split_k.DETECTOR,
        split_kv.DETECTOR,
        split_tiles.DETECTOR,
        strided_inputs.DETECTOR,
        widen_autotune.DETECTOR,
    )
}
"""In alphabetical order."""
