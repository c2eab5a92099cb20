"""Workload for sglang 0.5.23: the gated delta rule with a gate for each key channel, one token a sequence.

    skel apply fuse_vtiles --workload examples/sidecars/sglang_gating_delta_rule.py

The wheel is read as an archive (`pip download --no-deps sglang==0.5.23 -d .cache/wheels`) and never installed.
"""

import torch

TARGET = "sglang/kernels/ops/attention/linear/fused_sigmoid_gating_recurrent.py"
PACKAGE = "sglang==0.5.23"

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def run(inputs):
    from sglang.kernels.ops.attention.linear.fused_sigmoid_gating_recurrent import (
        fused_sigmoid_gating_delta_rule_update,
    )

    out = fused_sigmoid_gating_delta_rule_update(
        A_log=inputs["A_log"],
        a=inputs["a"],
        dt_bias=inputs["dt_bias"],
        softplus_beta=1.0,
        softplus_threshold=20.0,
        q=inputs["q"],
        k=inputs["k"],
        v=inputs["v"],
        b=inputs["b"],
        initial_state_source=inputs["state"],
        initial_state_indices=inputs["state_indices"],
        use_qk_l2norm_in_kernel=True,
        cu_seqlens=inputs["starts"],
        is_kda=True,
    )
    return out, inputs["state"]


def reference(inputs):
    """S' = S diag(exp g); d = beta (v - S' k); S = S' + d k^T; o = S q, token by token for each sequence."""
    x = inputs
    _, tokens, key_heads, key_width = x["q"].shape
    heads = x["v"].shape[2]

    def normalise(t):
        return t / torch.sqrt((t * t).sum(-1, keepdim=True) + 1e-6)

    q, k = (normalise(x[name][0]).repeat_interleave(heads // key_heads, 1) for name in ("q", "k"))
    raised = (x["a"][0] + x["dt_bias"]).view(tokens, heads, key_width)
    gate = -torch.exp(x["A_log"])[:, None] * torch.nn.functional.softplus(raised, threshold=20.0)
    beta = torch.sigmoid(x["b"][0])
    out, states = torch.zeros_like(x["v"]), x["state"].clone()
    for sequence, slot in enumerate(x["state_indices"].tolist()):
        state = x["state"][slot]
        for t in range(int(x["starts"][sequence]), int(x["starts"][sequence + 1])):
            state = state * torch.exp(gate[t])[:, None, :]
            delta = beta[t, :, None] * (x["v"][0, t] - torch.einsum("hvk,hk->hv", state, k[t]))
            state = state + delta[:, :, None] * k[t][:, None, :]
            out[0, t] = torch.einsum("hvk,hk->hv", state, q[t] * key_width**-0.5)
        states[slot] = state
    return out, states


def make_inputs(seed, device="cpu", *, N, T=1, H=2, HV=2, K=32, V=80, state_dtype="fp32", io_dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape, dtype=io_dtype):
        return torch.randn(shape, generator=generator, device=device).to(DTYPES[dtype])

    def uniform(low, high, *shape):
        return low + (high - low) * torch.rand(shape, generator=generator, device=device)

    # Decay rates from 1 to 16 and time steps from 0.001 to 0.1, as such layers are initialised.
    dt = torch.exp(uniform(-6.9, -2.3, HV * K))
    return {
        "q": normal(1, N * T, H, K),
        "k": normal(1, N * T, H, K),
        "v": normal(1, N * T, HV, V),
        "a": normal(1, N * T, HV * K),
        "b": normal(1, N * T, HV),
        "A_log": torch.log(uniform(1.0, 16.0, HV)),
        "dt_bias": torch.log(torch.expm1(dt)),  # the inverse of softplus
        "state": normal(N, HV, V, K, dtype=state_dtype),
        "state_indices": torch.arange(N, device=device, dtype=torch.int32).flip(0),
        "starts": torch.arange(0, N * T + 1, T, device=device, dtype=torch.int32),
    }


WORKLOADS = [
    {"name": "three_tiles", "N": 1, "K": 32, "V": 80},
    {"name": "two_tokens", "N": 2, "T": 2, "HV": 4, "K": 48, "V": 40},
    {"name": "bf16_state", "N": 1, "V": 64, "state_dtype": "bf16"},
]

GPU_WORKLOADS = [
    {"name": f"n{n}", "N": n, "H": 32, "HV": 32, "K": 128, "V": 128, "io_dtype": "bf16"} for n in (1, 16, 64)
]
