"""Workload for sglang 0.5.23: rows of unit length, as for the queries and keys of a delta rule.

    skel apply div_to_reciprocal --workload examples/sidecars/sglang_l2norm.py

The wheel is read as an archive (`pip download --no-deps sglang==0.5.23 -d .cache/wheels`) and never installed.
"""

import torch

TARGET = "sglang/kernels/ops/attention/fla/l2norm.py"
PACKAGE = "sglang==0.5.23"


def run(inputs):
    from sglang.kernels.ops.attention.fla.l2norm import l2norm_fwd

    return l2norm_fwd(inputs["x"])


def reference(inputs):
    """x / sqrt(sum(x^2) + eps)."""
    x = inputs["x"]
    return x / torch.sqrt((x * x).sum(-1, keepdim=True) + 1e-6)


def make_inputs(seed, device="cpu", *, tokens, heads, D, io_dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)
    x = torch.randn(tokens, heads, D, generator=generator, device=device)
    return {"x": x if io_dtype == "fp32" else x.to(torch.bfloat16)}


WORKLOADS = [{"name": "rows", "tokens": 7, "heads": 3, "D": 48}, {"name": "long", "tokens": 2, "heads": 2, "D": 700}]

GPU_WORKLOADS = [
    {"name": f"t{t}", "tokens": t, "heads": 16, "D": 1024, "io_dtype": "bf16"}
    for t in (16, 256, 4096)
]
