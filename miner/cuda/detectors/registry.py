"""Every detector of CUDA, by the skeleton that it looks for."""

from __future__ import annotations

from ..index import CudaDetector
from . import (
    alignment_hints,
    bulk_copy,
    cache_hints,
    dependent_launch,
    div_to_reciprocal,
    exp_to_exp2,
    multicast_tma,
    persistent_grid,
    pipeline_loads,
    release_gil,
    reorder_grid,
    stream_rows,
    swizzle_shared_memory,
    two_level_accumulation,
    warp_specialise,
)

DETECTORS: dict[str, CudaDetector] = {
    d.skeleton: d
    for d in (
        alignment_hints.DETECTOR,
        bulk_copy.DETECTOR,
        cache_hints.DETECTOR,
        dependent_launch.DETECTOR,
        div_to_reciprocal.DETECTOR,
        exp_to_exp2.DETECTOR,
        multicast_tma.DETECTOR,
        persistent_grid.DETECTOR,
        pipeline_loads.DETECTOR,
        release_gil.DETECTOR,
        reorder_grid.DETECTOR,
        stream_rows.DETECTOR,
        swizzle_shared_memory.DETECTOR,
        two_level_accumulation.DETECTOR,
        warp_specialise.DETECTOR,
    )
}
"""In alphabetical order."""
