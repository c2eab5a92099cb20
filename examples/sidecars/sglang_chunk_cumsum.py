"""Workload for sglang 0.5.23: sums of log decays within chunks, one number a token and head.

    skel apply block_pointer_to_mask --workload examples/sidecars/sglang_chunk_cumsum.py

The wheel is read as an archive (`pip download --no-deps sglang==0.5.23 -d .cache/wheels`) and never installed.
"""

import torch

TARGET = "sglang/kernels/ops/attention/fla/cumsum.py"
PACKAGE = "sglang==0.5.23"


def run(inputs):
    from sglang.kernels.ops.attention.fla.cumsum import chunk_local_cumsum_scalar

    return chunk_local_cumsum_scalar(inputs["g"], inputs["chunk"])


def reference(inputs):
    """The cumulative sum, begun anew in each chunk."""
    g, chunk = inputs["g"], inputs["chunk"]
    parts = [g[:, start : start + chunk].cumsum(1) for start in range(0, g.shape[1], chunk)]
    return torch.cat(parts, 1)


def make_inputs(seed, device="cpu", *, B, T, H, chunk):
    generator = torch.Generator(device).manual_seed(seed)
    return {"g": -torch.rand(B, T, H, generator=generator, device=device), "chunk": chunk}


WORKLOADS = [
    {"name": "tail", "B": 2, "T": 50, "H": 3, "chunk": 16},
    {"name": "whole", "B": 1, "T": 64, "H": 2, "chunk": 32},
]

GPU_WORKLOADS = [
    {"name": f"b{b}_t{t}", "B": b, "T": t, "H": 32, "chunk": 64} for b, t in ((1, 2048), (4, 4096), (8, 16384))
]
