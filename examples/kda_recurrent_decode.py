"""Kimi Delta Attention, one decode step in the plain form: the state is read, updated and written back.

The same recurrence as kda_decode.py, with no ring. A program handles one tile of BV value channels of one head;
it repeats the norms and gates of the head, but here the traffic of the state outweighs them. A fused form is legal
and seldom faster, so this is a kernel to try a skeleton on and keep the original.

Skeletons that apply: fuse_vtiles, loop_tiles, div_to_reciprocal, exp_to_exp2.
"""

import torch
import triton
import triton.language as tl

EPS = 1e-6
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


@triton.jit
def log_decay(gate, dt_bias, rate):
    """-rate * softplus(gate + dt_bias): the logarithm of what one token leaves of each key channel."""
    x = gate + dt_bias
    e = tl.exp(-tl.abs(x))
    # softplus is max(x, 0) + log(1 + e). Most time steps are short, e is small, and 1 + e would round it away.
    series = e * (1.0 - e * (0.5 - e * (1.0 / 3.0 - e * 0.25)))
    return -rate * (tl.maximum(x, 0.0) + tl.where(e < 0.03, series, tl.log(1.0 + e)))


@triton.jit
def kda_recurrent_decode_kernel(
    q,  # [N, H, K]
    k,  # [N, H, K]
    v,  # [N, H, V]
    a,  # [N, H, K] gate input
    b,  # [N, H] beta input
    state,  # [N, H, V, K], updated in place
    A_log,  # [H]
    dt_bias,  # [H, K]
    o,  # [N, H, V] output
    scale,
    eps,
    H: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    BK: tl.constexpr,
    BV: tl.constexpr,
):
    i_v = tl.program_id(0)
    i_h = tl.program_id(1) % H
    i_nh = tl.program_id(1).to(tl.int64)

    o_k = tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    mask_k = o_k < K
    mask_v = o_v < V
    mask_vk = mask_v[:, None] & mask_k[None, :]

    b_q = tl.load(q + i_nh * K + o_k, mask=mask_k, other=0.0).to(tl.float32)
    b_k = tl.load(k + i_nh * K + o_k, mask=mask_k, other=0.0).to(tl.float32)
    b_q = b_q / tl.sqrt(tl.sum(b_q * b_q) + eps) * scale
    b_k = b_k / tl.sqrt(tl.sum(b_k * b_k) + eps)
    b_beta = tl.sigmoid(tl.load(b + i_nh).to(tl.float32))

    b_rate = tl.exp(tl.load(A_log + i_h).to(tl.float32))
    b_bias = tl.load(dt_bias + i_h * K + o_k, mask=mask_k, other=0.0).to(tl.float32)
    b_g = log_decay(tl.load(a + i_nh * K + o_k, mask=mask_k, other=0.0).to(tl.float32), b_bias, b_rate)

    b_v = tl.load(v + i_nh * V + o_v, mask=mask_v, other=0.0).to(tl.float32)
    p_state = state + (i_nh * V + o_v[:, None]) * K + o_k[None, :]
    b_s = tl.load(p_state, mask=mask_vk, other=0.0).to(tl.float32)
    b_s = b_s * tl.exp(b_g)[None, :]
    b_u = b_beta * (b_v - tl.sum(b_s * b_k[None, :], axis=1))
    b_s += b_u[:, None] * b_k[None, :]
    b_o = tl.sum(b_s * b_q[None, :], axis=1)
    tl.store(o + i_nh * V + o_v, b_o.to(o.dtype.element_ty), mask=mask_v)
    tl.store(p_state, b_s.to(state.dtype.element_ty), mask=mask_vk)


def kda_recurrent_decode(q, k, v, a, b, state, A_log, dt_bias):
    """Decode one token for each of N sequences. Returns o [N, H, V] in v's dtype and state, which it updates."""
    N, H, V, K = state.shape
    o = torch.empty_like(v)
    BV = 32
    grid = (triton.cdiv(V, BV), N * H)
    kda_recurrent_decode_kernel[grid](
        q, k, v, a, b, state, A_log, dt_bias, o,
        K**-0.5, EPS,
        H=H, K=K, V=V, BK=triton.next_power_of_2(K), BV=BV,
        num_warps=1,
    )  # fmt: skip
    return o, state


def run(inputs):
    return kda_recurrent_decode(**inputs)


def reference(inputs):
    """The step in float64; leaves inputs as they are."""
    x = {name: tensor.double() for name, tensor in inputs.items()}
    q = x["q"] / torch.sqrt((x["q"] ** 2).sum(-1, keepdim=True) + EPS) * x["q"].shape[-1] ** -0.5
    k = x["k"] / torch.sqrt((x["k"] ** 2).sum(-1, keepdim=True) + EPS)
    g = -torch.exp(x["A_log"])[:, None] * torch.nn.functional.softplus(x["a"] + x["dt_bias"])
    state = x["state"] * torch.exp(g)[:, :, None, :]
    u = torch.sigmoid(x["b"])[..., None] * (x["v"] - torch.einsum("nhvk,nhk->nhv", state, k))
    state = state + u[..., :, None] * k[..., None, :]
    return torch.einsum("nhvk,nhk->nhv", state, q), state


def make_inputs(seed, device="cpu", *, N, H, K, V, state_dtype="fp32", io_dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape, dtype=io_dtype):
        return torch.randn(shape, generator=generator, device=device).to(DTYPES[dtype])

    def uniform(low, high, *shape):
        return low + (high - low) * torch.rand(shape, generator=generator, device=device)

    # Decay rates from 1 to 16 and time steps from 0.001 to 0.1, as such layers are initialised.
    dt = torch.exp(uniform(-6.9, -2.3, H, K))
    return {
        "q": normal(N, H, K),
        "k": normal(N, H, K),
        "v": normal(N, H, V),
        "a": normal(N, H, K),
        "b": normal(N, H),
        "state": normal(N, H, V, K, dtype=state_dtype),
        "A_log": torch.log(uniform(1.0, 16.0, H)),
        "dt_bias": torch.log(torch.expm1(dt)),  # the inverse of softplus
    }


WORKLOADS = [
    {"name": "two_tiles", "N": 1, "H": 2, "K": 32, "V": 64},
    {"name": "ragged", "N": 1, "H": 2, "K": 48, "V": 80},
    {"name": "bf16_state", "N": 1, "H": 1, "K": 32, "V": 64, "state_dtype": "bf16"},
]

GPU_WORKLOADS = [
    {"name": f"n{n}_{dtype}", "N": n, "H": 32, "K": 128, "V": 128, "state_dtype": dtype, "io_dtype": "bf16"}
    for dtype in ("bf16", "fp32")
    for n in (1, 16, 64, 256)
]
