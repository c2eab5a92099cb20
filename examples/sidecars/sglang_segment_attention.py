"""Workload for sglang 0.5.23: linear attention with one decay a head, prompts packed one after the other.

    skel apply dot_tf32x3 --workload examples/sidecars/sglang_segment_attention.py

The wheel is read as an archive (`pip download --no-deps sglang==0.5.23 -d .cache/wheels`) and never installed.
"""

from types import SimpleNamespace

import torch

TARGET = "sglang/kernels/ops/attention/linear/seg_la.py"
PACKAGE = "sglang==0.5.23"


def run(inputs):
    from sglang.kernels.ops.attention.linear.seg_la import seg_la_fwd

    x = inputs
    meta = SimpleNamespace(
        batch_size=x["lengths"].numel(),
        q_offsets=x["starts"],
        q_lengths=x["lengths"],
        s_offsets=x["slots"],
        s_scales=torch.ones_like(x["lengths"]),
        mask=None,
    )
    return seg_la_fwd(x["q"], x["k"], x["v"], x["state"], x["decay"], meta), x["state"]


def reference(inputs):
    """S' = exp(-decay) S + k v^T; o = scale q S', token by token for each prompt."""
    x = inputs
    out, states = torch.zeros_like(x["v"]), x["state"].clone()
    for start, length, slot in zip(*(x[n].tolist() for n in ("starts", "lengths", "slots")), strict=False):
        state = x["state"][slot]
        for t in range(start, start + length):
            state = torch.exp(-x["decay"])[:, None, None] * state + x["k"][t][:, :, None] * x["v"][t][:, None, :]
            out[t] = torch.einsum("hk,hkv->hv", x["q"][t], state) * x["q"].shape[-1] ** -0.5
        states[slot] = state
    return out, states


def make_inputs(seed, device="cpu", *, lengths, heads=2, D=64, io_dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)
    total = sum(lengths)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=device)

    def rows():
        values = normal(total, heads, D)
        return values if io_dtype == "fp32" else values.to(torch.bfloat16)

    ends = torch.tensor(lengths).cumsum(0)
    return {
        "q": rows(),
        "k": rows(),
        "v": rows(),
        "state": normal(len(lengths), heads, D, D),
        "decay": 0.05 + 0.2 * torch.rand(heads, generator=generator, device=device),
        "starts": (ends - torch.tensor(lengths)).to(device=device, dtype=torch.int32),
        "lengths": torch.tensor(lengths, device=device, dtype=torch.int32),
        "slots": torch.arange(len(lengths), device=device, dtype=torch.int32).flip(0),
    }


WORKLOADS = [{"name": "two_prompts", "lengths": [37, 9]}, {"name": "whole_blocks", "lengths": [64]}]

GPU_WORKLOADS = [
    {"name": f"b{b}_t{t}", "lengths": [t] * b, "heads": 32, "D": 128} for b, t in ((1, 1024), (4, 2048))
]
