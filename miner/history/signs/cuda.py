"""Techniques in CUDA and C++, by the words of the language and of its libraries that a change adds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model import FunctionEdit
from ..view import Sign, View

_SIGNS: tuple[tuple[str, int, str], ...] = (
    ("split_k", 2, r"^(k?num_?)?k?_?split_?k(?!v)|^k_?per_?split|_split_k(?!v)"),
    ("split_kv", 2, r"split_?kv|kv_?splits?"),
    ("multicast_tma", 3, r"multicast"),
    ("swizzle_shared_memory", 2, r"(?i)swizzle|padding|padded|bank_?conflict|stsm"),
    ("two_level_accumulation", 2, r"final_accum|promot"),
    ("warp_specialise", 3, r"setmaxnreg|reg_(de)?alloc|warp_?speciali[sz]|producer_warp"),
    ("bulk_copy", 2, r"cp_async_bulk|tma_(load|store|copy)|cpasyncbulk"),
    ("dependent_launch", 3, r"GridDependency|ProgrammaticLaunch|programmaticStream|griddepcontrol|(launch|enable)_pdl"),
    ("cache_hints", 2, r"^__ld(cs|cg|ca|cv|g|lu)$|^__st(cs|cg|wt|wb)$|evict_|L2Promotion|no_allocate|cache_hint"),
    ("alignment_hints", 2, r"^(float|uint|int|double|half|bf16)[248]$|AlignedVector|aligned_vector|^vec_t|^Vec$|kVec"),
    ("persistent_grid", 2, r"persistent|get_next_block|next_work"),
    ("release_gil", 3, r"gil_scoped_release"),
    ("stream_rows", 2, r"warp_reduce|warpReduce|reduce_sum|__shfl_xor_sync|shuffle_xor"),
    ("pipeline_loads", 1, r"[nN]um_?[sS]tages|kStages|kNumStages|pipeline|num_stages"),
    ("pipeline_loads", 1, r"^block_?k\w*$|BLOCK_K"),
    ("widen_autotune", 2, r"^(k?BLOCK_[MN]|block_[mn])(_?(candidates|list|s))?$|block_[mn]s|candidates?"),
    ("merge_kernel_chain", 1, r"fused|fuse_"),
    ("replay_ring", 1, r"replay|ring_buf|write_pos"),
    ("fuse_epilogue", 1, r"epilogue"),
    ("reorder_grid", 2, r"k?1?[dD]_?BlocksPerGroup|group_?m|block_swizzle|blocks_per_group|swizzle_block"),
)
_COMPILED = tuple((skeleton, strength, re.compile(pattern)) for skeleton, strength, pattern in _SIGNS)
_COSTLY = frozenset(
    "sincosf sinf cosf expf exp2f logf powf rsqrtf sqrtf __expf __sinf __cosf __logf __powf __frsqrt_rn".split()
)


def cuda_signs(view: View) -> Iterator[Sign]:
    """Signs in files of CUDA and C++."""
    for edit in view.cuda:
        for skeleton, strength, pattern in _COMPILED:
            found = sorted(w for w in edit.added if pattern.search(w))
            if found:
                fresh = [w for w in found if w not in edit.removed]
                yield Sign(skeleton, strength if len(fresh) and edit.before else 1, f"adds {', '.join(found[:3])}")
        yield from _reuse(edit)


def _reuse(edit: FunctionEdit) -> Iterator[Sign]:
    if not (edit.before and edit.after):
        return
    fewer = sorted(w for w in edit.removed if w in _COSTLY and w not in edit.added)
    if fewer:
        yield Sign("reuse_subexpression", 2, f"fewer calls of {', '.join(fewer)}")
