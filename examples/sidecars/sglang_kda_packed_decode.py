"""Workload for sglang 0.5.23: one decode step of Kimi Delta Attention that reads and writes the state.

    skel apply fuse_vtiles --workload examples/sidecars/sglang_kda_packed_decode.py

The wheel is read as an archive (`pip download --no-deps sglang==0.5.23 -d .cache/wheels`) and never installed. Its
launcher sends larger batches to a CUDA kernel; the slice keeps the Triton kernel.
"""

import torch

TARGET = "sglang/kernels/ops/attention/fla/fused_recurrent.py"
PACKAGE = "sglang==0.5.23"

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def run(inputs):
    from sglang.kernels.ops.attention.fla.fused_recurrent import fused_recurrent_kda_packed_decode

    _, value_heads, value_width, key_width = inputs["state"].shape
    qkv = inputs["mixed_qkv"]
    out = torch.empty(qkv.shape[0], 1, value_heads, value_width, dtype=qkv.dtype, device=qkv.device)
    return fused_recurrent_kda_packed_decode(
        qkv,
        inputs["a"],
        inputs["b"],
        inputs["A_log"],
        inputs["dt_bias"],
        key_width**-0.5,
        inputs["state"],
        out,
        inputs["state_indices"],
        use_qk_l2norm_in_kernel=True,
    )


def reference(inputs):
    """S' = S diag(exp g); d = beta (v - S' k); S = S' + d k^T; o = S q."""
    x = inputs
    _, heads, value_width, key_width = x["state"].shape
    rows = x["a"].shape[0]
    key_heads = (x["mixed_qkv"].shape[1] - heads * value_width) // (2 * key_width)
    split = [key_heads * key_width, key_heads * key_width, heads * value_width]
    q, k, v = x["mixed_qkv"].split(split, dim=-1)
    q, k = (t.view(rows, key_heads, key_width).repeat_interleave(heads // key_heads, 1) for t in (q, k))
    v = v.view(rows, heads, value_width)

    def normalise(t):
        return t / torch.sqrt((t * t).sum(-1, keepdim=True) + 1e-6)

    q, k = normalise(q) * key_width**-0.5, normalise(k)
    raised = (x["a"] + x["dt_bias"]).view(rows, heads, key_width)
    gate = -torch.exp(x["A_log"])[:, None] * torch.nn.functional.softplus(raised, threshold=20.0)
    beta = torch.sigmoid(x["b"])
    out = torch.zeros(rows, 1, heads, value_width, dtype=v.dtype, device=v.device)
    states = x["state"].clone()
    for row in range(rows):
        slot = int(x["state_indices"][row])
        if slot < 0:
            continue
        state = x["state"][slot] * torch.exp(gate[row])[:, None, :]
        delta = beta[row, :, None] * (v[row] - torch.einsum("hvk,hk->hv", state, k[row]))
        states[slot] = state + delta[:, :, None] * k[row][:, None, :]
        out[row, 0] = torch.einsum("hvk,hk->hv", states[slot], q[row])
    return out, states


def make_inputs(seed, device="cpu", *, B, H=2, HV=2, K=32, V=80, padded=0, state_dtype="fp32", io_dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape, dtype=io_dtype):
        return torch.randn(shape, generator=generator, device=device).to(DTYPES[dtype])

    def uniform(low, high, *shape):
        return low + (high - low) * torch.rand(shape, generator=generator, device=device)

    # Decay rates from 1 to 16 and time steps from 0.001 to 0.1, as such layers are initialised.
    dt = torch.exp(uniform(-6.9, -2.3, HV * K))
    indices = torch.arange(B, device=device, dtype=torch.int32).flip(0)
    indices[:padded] = -1  # rows that hold no request
    return {
        "mixed_qkv": normal(B, 2 * H * K + HV * V),
        "a": normal(B, HV * K),
        "b": normal(B, HV),
        "A_log": torch.log(uniform(1.0, 16.0, HV)),
        "dt_bias": torch.log(torch.expm1(dt)),  # the inverse of softplus
        "state": normal(B, HV, V, K, dtype=state_dtype),
        "state_indices": indices,
    }


WORKLOADS = [
    {"name": "three_tiles", "B": 1, "K": 32, "V": 80},
    {"name": "grouped_and_padded", "B": 2, "HV": 4, "K": 48, "V": 72, "padded": 1},
    {"name": "bf16_state", "B": 1, "V": 64, "state_dtype": "bf16"},
]

GPU_WORKLOADS = [
    {"name": f"b{b}", "B": b, "H": 32, "HV": 32, "K": 128, "V": 128, "io_dtype": "bf16"} for b in (1, 16, 64)
]
