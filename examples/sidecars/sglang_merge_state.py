"""Workload for sglang 0.5.23: two parts of an attention put together by their log-sum-exps.

    skel apply reuse_subexpression --workload examples/sidecars/sglang_merge_state.py

The wheel is read as an archive (`pip download --no-deps sglang==0.5.23 -d .cache/wheels`) and never installed.
"""

import torch

TARGET = "sglang/kernels/ops/attention/merge_state.py"
PACKAGE = "sglang==0.5.23"


def run(inputs):
    from sglang.kernels.ops.attention.merge_state import merge_state_triton

    return merge_state_triton(inputs["first"], inputs["first_lse"], inputs["second"], inputs["second_lse"])


def reference(inputs):
    """The mean of both parts, weighted by exp(lse)."""
    lse = torch.logaddexp(inputs["first_lse"], inputs["second_lse"])
    weights = [torch.exp(inputs[name] - lse)[..., None] for name in ("first_lse", "second_lse")]
    return weights[0] * inputs["first"] + weights[1] * inputs["second"], lse


def make_inputs(seed, device="cpu", *, tokens, heads, D, io_dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=device)

    def part():
        values = normal(tokens, heads, D)
        return values if io_dtype == "fp32" else values.to(torch.bfloat16)

    return {
        "first": part(),
        "second": part(),
        "first_lse": 3.0 * normal(tokens, heads),
        "second_lse": 3.0 * normal(tokens, heads),
    }


WORKLOADS = [{"name": "whole", "tokens": 3, "heads": 2, "D": 32}, {"name": "masked", "tokens": 2, "heads": 3, "D": 40}]

GPU_WORKLOADS = [
    {"name": f"t{t}", "tokens": t, "heads": 32, "D": 128, "io_dtype": "bf16"} for t in (16, 512, 8192)
]
