"""Workload for sglang 0.5.23: the outputs of a token's experts, added up with the router's weights.

    skel apply relax_specialization --workload examples/sidecars/sglang_expert_sum.py

The wheel is read as an archive (`pip download --no-deps sglang==0.5.23 -d .cache/wheels`) and never installed.
"""

import torch

TARGET = "sglang/kernels/ops/moe/moe_fused_mul_sum.py"
PACKAGE = "sglang==0.5.23"


def run(inputs):
    from sglang.kernels.ops.moe.moe_fused_mul_sum import moe_fused_mul_sum

    return moe_fused_mul_sum(inputs["x"], inputs["weights"])


def reference(inputs):
    """sum_k w_k x_k."""
    return torch.einsum("tk,tkd->td", inputs["weights"], inputs["x"])


def make_inputs(seed, device="cpu", *, tokens, experts=4, hidden=300, io_dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)
    x = torch.randn(tokens, experts, hidden, generator=generator, device=device)
    weights = torch.rand(tokens, experts, generator=generator, device=device)
    return {"x": x if io_dtype == "fp32" else x.to(torch.bfloat16), "weights": weights}


WORKLOADS = [{"name": "tail", "tokens": 5}, {"name": "one_token", "tokens": 1, "hidden": 256}]

GPU_WORKLOADS = [
    {"name": f"t{t}", "tokens": t, "experts": 8, "hidden": 7168, "io_dtype": "bf16"} for t in (1, 63, 1021)
]
