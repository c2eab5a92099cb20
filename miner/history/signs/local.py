"""Techniques that change an expression of one kernel."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import FunctionEdit
from ..view import Sign, View, gains, loses

_HINTS = ("tl.multiple_of", "tl.max_contiguous")
_PRECISIONS = ("input_precision=tf32x3", "input_precision=ieee", "input_precision=?", "input_precision=tf32")


def local_signs(view: View) -> Iterator[Sign]:
    """Signs of kernels that are on both sides of the commit."""
    for kernel in view.kernels:
        yield from _exponentials(kernel)
        yield from _memory(kernel)
        yield from _arithmetic(kernel)
        yield from _loops(kernel)


def _exponentials(kernel: FunctionEdit) -> Iterator[Sign]:
    lost, won = loses(kernel, "tl.exp"), gains(kernel, "tl.exp2")
    if lost and won:
        yield Sign("exp_to_exp2", 3, f"{kernel.name}: exp becomes exp2")
    elif loses(kernel, "tl.exp2") and gains(kernel, "tl.exp"):
        yield Sign("exp_to_exp2", 3, f"{kernel.name}: exp2 becomes exp", adds=False)
    elif won:
        yield Sign("exp_to_exp2", 2, f"{kernel.name}: takes exponentials in base two")


def _memory(kernel: FunctionEdit) -> Iterator[Sign]:
    wide = gains(kernel, "to:int64")
    if wide:
        sure = loses(kernel, "to:int32") or wide > gains(kernel, "tl.load", "tl.program_id", "tl.store")
        yield Sign("int64_offsets", 3 if sure else 1, f"{kernel.name}: casts to int64")
    gone, checks = loses(kernel, "tl.make_block_ptr"), loses(kernel, "boundary_check=")
    if gone and (gains(kernel, "mask=") or checks):
        masks = gains(kernel, "mask=") > 0
        yield Sign("block_pointer_to_mask", 3 if masks else 1, f"{kernel.name}: block pointers become masked pointers")
    if gains(kernel, *_HINTS):
        yield Sign("alignment_hints", 3, f"{kernel.name}: says what addresses are multiples of")
    hints = [t for t in kernel.added if t.startswith(("eviction_policy=", "cache_modifier="))]
    if hints:
        yield Sign("cache_hints", 3, f"{kernel.name}: {', '.join(hints)}")
    dropped = [t for t in kernel.removed if t.startswith(("eviction_policy=", "cache_modifier="))]
    if dropped and not hints:
        yield Sign("cache_hints", 2, f"{kernel.name}: drops {', '.join(dropped)}", adds=False)
    even = [p for p in kernel.gained if p.startswith("constexpr:") and "even" in p.lower()]
    if even:
        yield Sign("elide_masks", 3, f"{kernel.name}: {', '.join(even)}")
    if gains(kernel, "tl.make_tensor_descriptor"):
        yield Sign("bulk_copy", 2, f"{kernel.name}: copies through descriptors")
    if gains(kernel, "tl.gdc_wait", "tl.extra.cuda.gdc_wait", "tl.gdc_launch_dependents"):
        yield Sign("dependent_launch", 3, f"{kernel.name}: waits for the launch before it")


def _arithmetic(kernel: FunctionEdit) -> Iterator[Sign]:
    if gains(kernel, "tl.rsqrt") and loses(kernel, "tl.sqrt"):
        yield Sign("div_to_reciprocal", 3, f"{kernel.name}: rsqrt in place of a root and a division")
    precise = [t for t in _PRECISIONS if gains(kernel, t)]
    if precise:
        yield Sign("dot_tf32x3", 3 if "input_precision=tf32x3" in precise else 2, f"{kernel.name}: {precise[0]}")
    loads, dots = loses(kernel, "tl.load"), loses(kernel, "tl.exp", "tl.exp2", "tl.sqrt", "tl.log")
    if (loads or dots) and not kernel.added and not kernel.parameters_added and not kernel.parameters_removed:
        yield Sign("reuse_subexpression", 1, f"{kernel.name}: computes less with the same arguments")


def _loops(kernel: FunctionEdit) -> Iterator[Sign]:
    staged = [f for f in kernel.gained if f.startswith("range_stages:")]
    if staged:
        yield Sign("pipeline_loads", 3, f"{kernel.name}: a loop with stages of its own")
    if any(f.startswith("config:num_stages=") for f in kernel.gained):
        yield Sign("pipeline_loads", 1, f"{kernel.name}: other numbers of stages are tried")
    if "strided_loop" in kernel.gained:
        yield Sign("persistent_grid", 3, f"{kernel.name}: programs walk the work in strides")
    elif "strided_loop" in kernel.lost:
        yield Sign("persistent_grid", 2, f"{kernel.name}: programs no longer walk the work", adds=False)
