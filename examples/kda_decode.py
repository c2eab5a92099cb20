"""Kimi Delta Attention, one decode step in the replay form.

Instead of writing the state after every token, the decoder keeps a checkpoint of it and a ring of what
happened since: the last L keys and gate inputs, raw, and the L value deltas. Each step replays the ring on
top of the checkpoint, which is only read. (Now and then another kernel folds the ring into the checkpoint.)

For one head, with state S [K, V] (stored as [V, K]), per-key-channel decay g = -exp(A_log) * softplus(a + dt_bias):

    S <- diag(exp(g)) S        decay
    u  = beta * (v - S^T k)    delta: what the value adds to what the state already recalls
    S <- S + k u^T             write
    o  = S^T q                 read

A program handles one tile of BV value channels. Norms, gates, the decay of each cached key and its overlap with
q and k do not depend on the tile, so every tile of a head repeats them.

Skeletons that apply: fuse_vtiles, loop_tiles (the repeated key-side work), div_to_reciprocal (the norms),
exp_to_exp2 (the decays).
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
def kda_decode_kernel(
    q,  # [N, H, K]
    k,  # [N, H, K]
    v,  # [N, H, V]
    a,  # [N, H, K] gate input
    b,  # [N, H] beta input
    state,  # [N, H, V, K] checkpoint, read only
    ring_k,  # [N, H, L, K] keys, oldest first, not normalised
    ring_a,  # [N, H, L, K] gate inputs
    ring_u,  # [N, H, L, V] value deltas
    A_log,  # [H]
    dt_bias,  # [H, K]
    o,  # [N, H, V] output
    u,  # [N, H, V] output: the new token's delta
    scale,
    eps,
    H: tl.constexpr,
    K: tl.constexpr,
    V: tl.constexpr,
    L: tl.constexpr,
    BK: tl.constexpr,
    BV: tl.constexpr,
    BL: tl.constexpr,
):
    i_v = tl.program_id(0)
    i_h = tl.program_id(1) % H
    i_nh = tl.program_id(1).to(tl.int64)

    o_k = tl.arange(0, BK)
    o_l = tl.arange(0, BL)
    mask_k = o_k < K
    mask_l = o_l < L
    mask_lk = mask_l[:, None] & mask_k[None, :]

    # The new token: normalise its query and key, find its decay.
    b_q = tl.load(q + i_nh * K + o_k, mask=mask_k, other=0.0).to(tl.float32)
    b_k = tl.load(k + i_nh * K + o_k, mask=mask_k, other=0.0).to(tl.float32)
    b_q = b_q / tl.sqrt(tl.sum(b_q * b_q) + eps) * scale
    b_k = b_k / tl.sqrt(tl.sum(b_k * b_k) + eps)
    b_beta = tl.sigmoid(tl.load(b + i_nh).to(tl.float32))
    b_rate = tl.exp(tl.load(A_log + i_h).to(tl.float32))
    b_bias = tl.load(dt_bias + i_h * K + o_k, mask=mask_k, other=0.0).to(tl.float32)
    b_g = log_decay(tl.load(a + i_nh * K + o_k, mask=mask_k, other=0.0).to(tl.float32), b_bias, b_rate)

    # The ring, newest token first: how much of each cached key is left now, and how it overlaps with the new key and
    # query. Row l takes the decay of the token after its own, so that a sum from the top is all that came since; the
    # oldest token's own decay only concerns the checkpoint.
    o_t = L - 1 - o_l
    p_tk = (i_nh * L + o_t[:, None]) * K + o_k[None, :]
    mask_later = mask_lk & (o_l > 0)[:, None]
    b_later_a = tl.load(ring_a + p_tk + K, mask=mask_later, other=0.0).to(tl.float32)
    b_later_g = tl.where(mask_later, log_decay(b_later_a, b_bias[None, :], b_rate), 0.0)
    b_later_g = tl.where((o_l == 0)[:, None], b_g[None, :], b_later_g)
    b_left = tl.exp(tl.cumsum(b_later_g, axis=0))
    b_first_a = tl.load(ring_a + i_nh * L * K + o_k, mask=mask_k, other=0.0).to(tl.float32)
    b_state_left = tl.exp(tl.sum(b_later_g, axis=0) + log_decay(b_first_a, b_bias, b_rate))
    b_ring_k = tl.load(ring_k + p_tk, mask=mask_lk, other=0.0).to(tl.float32)
    b_ring_k = b_ring_k / tl.sqrt(tl.sum(b_ring_k * b_ring_k, axis=1) + eps)[:, None] * b_left
    b_ring_dot_q = tl.sum(b_ring_k * b_q[None, :], axis=1)
    b_ring_dot_k = tl.sum(b_ring_k * b_k[None, :], axis=1)

    # The checkpoint's decay goes into the vectors that read it.
    b_k_dot_q = tl.sum(b_k * b_q)
    b_state_q = b_q * b_state_left
    b_state_k = b_k * b_state_left

    # Only from here on does the value tile matter.
    o_v = i_v * BV + tl.arange(0, BV)
    mask_v = o_v < V
    b_v = tl.load(v + i_nh * V + o_v, mask=mask_v, other=0.0).to(tl.float32)
    p_tv = (i_nh * L + o_t[:, None]) * V + o_v[None, :]
    b_ring_u = tl.load(ring_u + p_tv, mask=mask_l[:, None] & mask_v[None, :], other=0.0).to(tl.float32)
    p_vk = (i_nh * V + o_v[:, None]) * K + o_k[None, :]
    b_s = tl.load(state + p_vk, mask=mask_v[:, None] & mask_k[None, :], other=0.0).to(tl.float32)

    b_recall = tl.sum(b_s * b_state_k[None, :], axis=1) + tl.sum(b_ring_u * b_ring_dot_k[:, None], axis=0)
    b_o = tl.sum(b_s * b_state_q[None, :], axis=1) + tl.sum(b_ring_u * b_ring_dot_q[:, None], axis=0)
    b_u = b_beta * (b_v - b_recall)
    b_o += b_u * b_k_dot_q
    tl.store(o + i_nh * V + o_v, b_o.to(o.dtype.element_ty), mask=mask_v)
    tl.store(u + i_nh * V + o_v, b_u.to(u.dtype.element_ty), mask=mask_v)


def kda_decode(q, k, v, a, b, state, ring_k, ring_a, ring_u, A_log, dt_bias):
    """Decode one token for each of N sequences. Returns o [N, H, V] in v's dtype and its delta u [N, H, V] in fp32."""
    N, H, V, K = state.shape
    L = ring_k.shape[2]
    o = torch.empty_like(v)
    u = torch.empty_like(v, dtype=torch.float32)
    BV = 32
    grid = (triton.cdiv(V, BV), N * H)
    kda_decode_kernel[grid](
        q, k, v, a, b, state, ring_k, ring_a, ring_u, A_log, dt_bias, o, u,
        K**-0.5, EPS,
        H=H, K=K, V=V, L=L,
        BK=triton.next_power_of_2(K), BV=BV, BL=triton.next_power_of_2(L),
        num_warps=1,
    )  # fmt: skip
    return o, u


def run(inputs):
    return kda_decode(**inputs)


def reference(inputs):
    """Run the recurrence token by token from the checkpoint, in float64."""
    x = {name: tensor.double() for name, tensor in inputs.items()}

    def normalise(t):
        return t / torch.sqrt((t * t).sum(-1, keepdim=True) + EPS)

    def decay(gate):
        return torch.exp(-torch.exp(x["A_log"])[:, None] * torch.nn.functional.softplus(gate + x["dt_bias"]))

    state = x["state"]
    for t in range(x["ring_k"].shape[2]):
        key, delta = normalise(x["ring_k"][:, :, t]), x["ring_u"][:, :, t]
        state = state * decay(x["ring_a"][:, :, t])[:, :, None, :] + delta[..., :, None] * key[..., None, :]

    q, k = normalise(x["q"]) * x["q"].shape[-1] ** -0.5, normalise(x["k"])
    state = state * decay(x["a"])[:, :, None, :]
    u = torch.sigmoid(x["b"])[..., None] * (x["v"] - torch.einsum("nhvk,nhk->nhv", state, k))
    state = state + u[..., :, None] * k[..., None, :]
    return torch.einsum("nhvk,nhk->nhv", state, q), u


def make_inputs(seed, device="cpu", *, N, H, K, V, L, state_dtype="fp32", io_dtype="fp32"):
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
        "ring_k": normal(N, H, L, K),
        "ring_a": normal(N, H, L, K),
        "ring_u": normal(N, H, L, V, dtype="fp32"),
        "A_log": torch.log(uniform(1.0, 16.0, H)),
        "dt_bias": torch.log(torch.expm1(dt)),  # the inverse of softplus
    }


WORKLOADS = [
    {"name": "two_tiles", "N": 1, "H": 2, "K": 32, "V": 64, "L": 4},
    {"name": "ragged", "N": 1, "H": 2, "K": 48, "V": 80, "L": 3},
    {"name": "bf16_state", "N": 1, "H": 1, "K": 32, "V": 64, "L": 4, "state_dtype": "bf16"},
]

GPU_WORKLOADS = [
    {"name": f"n{n}_{dtype}", "N": n, "H": 32, "K": 128, "V": 128, "L": 16, "state_dtype": dtype, "io_dtype": "bf16"}
    for dtype in ("bf16", "fp32")
    for n in (1, 16, 64, 256)
]
