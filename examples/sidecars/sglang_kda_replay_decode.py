"""Workload for sglang 0.5.23: one decode step of Kimi Delta Attention from a checkpoint state and a ring of tokens.

    skel apply fuse_vtiles --workload examples/sidecars/sglang_kda_replay_decode.py

The wheel is read as an archive (`pip download --no-deps sglang==0.5.23 -d .cache/wheels`) and never installed.
"""

import torch

TARGET = "sglang/kernels/ops/attention/linear/fused_recurrent_linear_replayssm.py"
PACKAGE = "sglang==0.5.23"

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def run(inputs):
    from sglang.kernels.ops.attention.linear.fused_recurrent_linear_replayssm import (
        fused_recurrent_linear_replayssm_decode,
    )

    rows, value_heads, key_width = inputs["a"].shape
    value_width = inputs["state"].shape[2]
    out = torch.empty(
        rows, 1, value_heads, value_width, dtype=inputs["mixed_qkv"].dtype, device=inputs["mixed_qkv"].device
    )
    return fused_recurrent_linear_replayssm_decode(
        inputs["mixed_qkv"],
        inputs["a"],
        inputs["b"],
        inputs["A_log"],
        inputs["dt_bias"],
        key_width**-0.5,
        inputs["state"],
        inputs["d_cache"],
        inputs["k_cache"],
        inputs["g_cache"],
        out,
        inputs["state_indices"],
        inputs["write_pos"],
        use_qk_l2norm_in_kernel=True,
        is_kda=True,
    )


def reference(inputs):
    """Token by token from the checkpoint: S = S diag(exp g) + d k^T for each of the ring, then for this one."""
    x = inputs
    rows, heads, key_width = x["a"].shape
    value_width = x["state"].shape[2]
    ring = x["d_cache"].shape[2]
    key_heads = x["k_cache"].shape[1]
    split = [key_heads * key_width, key_heads * key_width, heads * value_width]
    q, k, v = x["mixed_qkv"].split(split, dim=-1)
    q, k = (t.view(rows, key_heads, key_width).repeat_interleave(heads // key_heads, 1) for t in (q, k))
    v = v.view(rows, heads, value_width)

    def normalise(t):
        return t / torch.sqrt((t * t).sum(-1, keepdim=True) + 1e-6)

    q, k = normalise(q) * key_width**-0.5, normalise(k)
    gate = -torch.exp(x["A_log"])[:, None] * torch.nn.functional.softplus(x["a"] + x["dt_bias"], threshold=20.0)
    beta = torch.sigmoid(x["b"])
    out = torch.zeros(rows, 1, heads, value_width, dtype=v.dtype, device=v.device)
    states = x["state"].clone()
    for row in range(rows):
        slot = int(x["state_indices"][row])
        if slot < 0:
            continue
        state, filled = x["state"][slot], int(x["write_pos"][row])
        for t in range(filled):
            cached_key = x["k_cache"][slot, :, t].repeat_interleave(heads // key_heads, 0)
            decay = torch.exp(x["g_cache"][slot, :, t])
            state = state * decay[:, None, :] + x["d_cache"][slot, :, t, :, None] * cached_key[:, None, :]
        state = state * torch.exp(gate[row])[:, None, :]
        delta = beta[row, :, None] * (v[row] - torch.einsum("hvk,hk->hv", state, k[row]))
        state = state + delta[:, :, None] * k[row][:, None, :]
        out[row, 0] = torch.einsum("hvk,hk->hv", state, q[row])
        if filled == ring - 1:
            states[slot] = state
    return out, states


def make_inputs(
    seed, device="cpu", *, B, H=2, HV=2, K=32, V=80, ring=16, filled=12, padded=0, state_dtype="fp32", io_dtype="fp32"
):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape, dtype=io_dtype):
        return torch.randn(shape, generator=generator, device=device).to(DTYPES[dtype])

    def uniform(low, high, *shape):
        return low + (high - low) * torch.rand(shape, generator=generator, device=device)

    keys = normal(B, H, ring, K, dtype="fp32")
    # Decay rates from 1 to 16 and time steps from 0.001 to 0.1, as such layers are initialised.
    dt = torch.exp(uniform(-6.9, -2.3, HV, K))
    indices = torch.arange(B, device=device, dtype=torch.int32).flip(0)
    indices[:padded] = -1  # rows that hold no request
    return {
        "mixed_qkv": normal(B, 2 * H * K + HV * V),
        "a": normal(B, HV, K),
        "b": normal(B, HV),
        "A_log": torch.log(uniform(1.0, 16.0, HV)),
        "dt_bias": torch.log(torch.expm1(dt)),  # the inverse of softplus
        "state": normal(B, HV, V, K, dtype=state_dtype),
        "d_cache": normal(B, HV, ring, V),
        "k_cache": torch.nn.functional.normalize(keys, dim=-1).to(DTYPES[io_dtype]),
        "g_cache": -uniform(0.0, 0.5, B, HV, ring, K),
        "state_indices": indices,
        "write_pos": torch.full((B,), filled, device=device, dtype=torch.int32),
    }


WORKLOADS = [
    {"name": "two_tiles", "B": 1, "K": 32, "V": 80},
    {"name": "flush_and_padding", "B": 2, "HV": 4, "K": 48, "V": 72, "ring": 4, "filled": 3, "padded": 1},
    {"name": "bf16_state", "B": 1, "HV": 2, "V": 128, "ring": 8, "filled": 5, "state_dtype": "bf16"},
]

GPU_WORKLOADS = [
    {"name": f"b{b}_{dtype}", "B": b, "H": 32, "HV": 32, "K": 128, "V": 128, "state_dtype": dtype, "io_dtype": "bf16"}
    for dtype in ("bf16", "fp32")
    for b in (1, 16, 64, 256)
]
