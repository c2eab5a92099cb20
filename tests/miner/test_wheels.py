"""The catalogued places of the three pinned packages, as the miner sees them; skipped where the wheels are not at hand.

Only the files of these places are read: the whole of the packages takes minutes.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import pytest

from skel.miner.code.model import MinedFile
from skel.miner.code.python_file import mine_python
from skel.miner.cuda.mining import mine_cuda
from skel.miner.sources import known_entries
from skel.miner.sources.archive import ArchiveSource, open_package

WHEELS = {
    "fla-core": "fla_core-0.6.0-py3-none-any.whl",
    "sglang": "sglang-0.5.23-cp311-cp311-manylinux_2_34_x86_64.whl",
    "sgl-deep-gemm": "sgl_deep_gemm-0.2.5-py3-none-manylinux2014_x86_64.whl",
}
FLA, OPS, JIT, GEMM = "fla/ops", "sglang/kernels/ops", "sglang/kernels/jit/csrc", "deep_gemm/include/deep_gemm"
PLACES = (
    ("split_tiles", "sglang", f"{OPS}/attention/linear/fused_sigmoid_gating_recurrent.py", "uses"),
    ("loop_tiles", "fla-core", f"{FLA}/common/chunk_o.py", "uses"),
    ("stream_rows", "sglang", f"{JIT}/attention/kda_packed_decode.cuh", "uses"),
    ("split_k", "sglang", f"{OPS}/gemm/router_gemv.py", "uses"),
    ("split_kv", "sglang", f"{OPS}/attention/decode_attention.py", "uses"),
    ("persistent_grid", "sglang", f"{OPS}/grammar/bitmask_ops.py", "uses"),
    ("persistent_grid", "sgl-deep-gemm", f"{GEMM}/scheduler/gemm.cuh", "uses"),
    ("reorder_grid", "fla-core", f"{FLA}/common/chunk_delta_h.py", "uses"),
    ("reorder_grid", "sglang", f"{OPS}/moe/fused_moe_triton_kernels.py", "uses"),
    ("reorder_grid", "sgl-deep-gemm", f"{GEMM}/scheduler/gemm.cuh", "uses"),
    ("parallelise_loop", "sglang", f"{OPS}/attention/kv_indices.py", "uses"),
    ("pipeline_loads", "fla-core", f"{FLA}/kda/fused_recurrent.py", "uses"),
    ("pipeline_loads", "sglang", f"{OPS}/attention/decode_attention.py", "uses"),
    ("fuse_prologue", "fla-core", f"{FLA}/kda/fused_recurrent.py", "uses"),
    ("save_statistic", "fla-core", f"{FLA}/attnres/fused.py", "uses"),
    ("exp_to_exp2", "sglang", f"{OPS}/attention/extend_attention.py", "uses"),
    ("div_to_reciprocal", "sglang", f"{OPS}/attention/linear/fused_sigmoid_gating_recurrent.py", "could_use"),
    ("cache_hints", "fla-core", f"{FLA}/attnres/fused.py", "uses"),
    ("alignment_hints", "fla-core", f"{FLA}/attnres/fused.py", "uses"),
    ("relax_specialization", "sglang", f"{OPS}/attention/fla/l2norm.py", "uses"),
    ("specialise_clone", "sglang", f"{OPS}/attention/fla/fused_recurrent.py", "uses"),
    ("strided_inputs", "sglang", f"{OPS}/attention/fla/fused_recurrent.py", "uses"),
    ("defer_state_load", "fla-core", f"{FLA}/kda/fused_recurrent.py", "could_use"),
    ("dot_tf32x3", "fla-core", f"{FLA}/cp/chunk_merge.py", "uses"),
    ("elide_masks", "sglang", f"{OPS}/moe/fused_moe_triton_kernels.py", "uses"),
    ("bulk_copy", "fla-core", f"{FLA}/utils/solve_tril.py", "uses"),
    ("widen_autotune", "fla-core", f"{FLA}/nsa/parallel.py", "uses"),
    ("dependent_launch", "sglang", f"{OPS}/attention/linear/fused_sigmoid_gating_recurrent.py", "uses"),
    ("replay_ring", "sglang", f"{OPS}/attention/linear/fused_recurrent_linear_replayssm.py", "uses"),
    ("warp_specialise", "sgl-deep-gemm", f"{GEMM}/impls/sm90_fp8_gemm_1d2d.cuh", "uses"),
    ("swizzle_shared_memory", "sgl-deep-gemm", f"{GEMM}/epilogue/sm100_store_cd.cuh", "uses"),
    ("multicast_tma", "sgl-deep-gemm", f"{GEMM}/common/tma_copy.cuh", "uses"),
    ("multicast_tma", "sgl-deep-gemm", f"{GEMM}/impls/sm90_fp8_gemm_1d2d.cuh", "uses"),
    ("two_level_accumulation", "sgl-deep-gemm", f"{GEMM}/impls/sm90_fp8_gemm_1d1d.cuh", "uses"),
)
"""Technique, package, file, and whether the file uses it or could."""


@lru_cache(maxsize=3)
def wheel(name: str) -> ArchiveSource:
    folders = [*os.environ.get("PINNED_WHEELS", "").split(os.pathsep), str(Path(__file__).parents[2] / ".cache/wheels")]
    for folder in filter(None, folders):
        path = Path(folder) / WHEELS[name]
        if path.is_file():
            return open_package(known_entries()[name], path.resolve(), str(known_entries()[name].revision))
    pytest.skip(f"{WHEELS[name]} is not at hand")


@lru_cache(maxsize=64)
def mined(package: str, path: str) -> MinedFile:
    source = wheel(package)
    if not path.endswith(".py"):
        return cuda(package)[path]
    ((_, data),) = source.contents([path])
    return mine_python(data, path, str(source.root / path))


@lru_cache(maxsize=2)
def cuda(package: str) -> dict[str, MinedFile]:
    source = wheel(package)
    chosen = ("csrc/attention/kda_packed", "jit/include/sgl_kernel/", "deep_gemm/common/", "deep_gemm/scheduler/gemm",
              "deep_gemm/epilogue/", "impls/sm90_fp8_gemm")  # fmt: skip
    wanted = [path for path in source.paths() if path.endswith(".cuh") and any(part in path for part in chosen)]
    files = list(source.contents(wanted))
    return {file.path: file for file in mine_cuda(files)}


@pytest.mark.parametrize(("technique", "package", "path", "role"), PLACES)
def test_a_catalogued_place_is_found(technique: str, package: str, path: str, role: str) -> None:
    file = mined(package, path)
    assert file.not_read is None and file.faults == ()
    assert (technique, role) in {(o.technique, o.role) for kernel in file.kernels for o in kernel.occurrences}


def test_deepgemms_techniques_come_with_their_conditions() -> None:
    (kernel,) = (
        k for k in mined("sgl-deep-gemm", f"{GEMM}/impls/sm90_fp8_gemm_1d2d.cuh").kernels if k.language == "cuda"
    )
    assert {
        "warp_specialise", "two_level_accumulation", "multicast_tma", "reorder_grid", "persistent_grid",
        "pipeline_loads", "bulk_copy", "dependent_launch",
    } <= {o.technique for o in kernel.occurrences}  # fmt: skip
    said = {c.text for c in kernel.conditions}
    assert any("BLOCK_K == 128" in text for text in said) and any("kNumTMAMulticast <= 2" in text for text in said)
    assert kernel.resources["constants"]["kNumTMARegisters"] == "40"
    assert any("kNumStages" in parameter for parameter in kernel.resources["template"])


def test_a_dispatch_table_is_read_with_its_thresholds_and_measurements() -> None:
    path = f"{OPS}/attention/linear/fused_sigmoid_gating_recurrent.py"
    (kernel,) = mined("sglang", path).kernels
    dispatch = [c.text for c in kernel.conditions if c.kind == "dispatch"]
    assert any("n <= 64" in text and "return (4, 1)" in text for text in dispatch)
    comments = [c.text for c in kernel.conditions if c.kind == "comment"]
    assert any("6.99 vs 13.66 us" in text for text in comments)
