"""Matrix products: swizzled and tuned, split over K, persistent with descriptors, block pointers, grouped by expert."""

import torch
import triton
import triton.language as tl


def _drop_large(configs, named_args, **kwargs):
    return [c for c in configs if c.kwargs["TILE_M"] * c.kwargs["TILE_N"] <= 128 * 256] or configs


@triton.jit
def _place_in_group(pid, tiles_m, tiles_n, GROUP: tl.constexpr):
    per_group = GROUP * tiles_n
    group = pid // per_group
    first = group * GROUP
    rows = min(tiles_m - first, GROUP)
    return first + (pid % per_group) % rows, (pid % per_group) // rows


@triton.autotune(
    configs=[
        triton.Config({"TILE_M": 128, "TILE_N": 256, "TILE_K": 64, "GROUP": 8}, num_stages=3, num_warps=8),
        triton.Config({"TILE_M": 64, "TILE_N": 128, "TILE_K": 32, "GROUP": 8}, num_stages=4, num_warps=4),
    ],
    key=["M", "N", "K"],
    prune_configs_by={"early_config_prune": _drop_large},
)
@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["TILE_K"] == 0})
@triton.jit
def _linear_act(
    A, B, C, Bias, M, N, K, sa_m, sa_k, sb_k, sb_n, sc_m, sc_n,
    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, GROUP: tl.constexpr, EVEN_K: tl.constexpr,
):
    pid = tl.program_id(0)
    m, n = _place_in_group(pid, tl.cdiv(M, TILE_M), tl.cdiv(N, TILE_N), GROUP)
    rows = (m * TILE_M + tl.arange(0, TILE_M)) % M
    cols = (n * TILE_N + tl.arange(0, TILE_N)) % N
    rows = tl.max_contiguous(tl.multiple_of(rows, TILE_M), TILE_M)
    cols = tl.max_contiguous(tl.multiple_of(cols, TILE_N), TILE_N)
    ks = tl.arange(0, TILE_K)
    a_at = A + rows[:, None] * sa_m + ks[None, :] * sa_k
    b_at = B + ks[:, None] * sb_k + cols[None, :] * sb_n
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, TILE_K)):
        if EVEN_K:
            a, b = tl.load(a_at), tl.load(b_at)
        else:
            a = tl.load(a_at, mask=ks[None, :] < K - k * TILE_K, other=0.0)
            b = tl.load(b_at, mask=ks[:, None] < K - k * TILE_K, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_at += TILE_K * sa_k
        b_at += TILE_K * sb_k
    out_n = n * TILE_N + tl.arange(0, TILE_N)
    out_m = m * TILE_M + tl.arange(0, TILE_M)
    acc += tl.load(Bias + out_n, mask=out_n < N, other=0.0)[None, :]
    acc = tl.where(acc > 0, acc, 0.0)
    inside = (out_m < M)[:, None] & (out_n < N)[None, :]
    tl.store(C + out_m[:, None] * sc_m + out_n[None, :] * sc_n, acc.to(C.dtype.element_ty), mask=inside)


@triton.jit
def _linear_slices(
    A, B, C, M, N, K, sa_m, sa_k, sb_k, sb_n, sc_m, sc_n,
    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, SLICES: tl.constexpr,
):
    m, n, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    rows = (m * TILE_M + tl.arange(0, TILE_M)) % M
    cols = (n * TILE_N + tl.arange(0, TILE_N)) % N
    ks = z * TILE_K + tl.arange(0, TILE_K)
    a_at = A + rows[:, None] * sa_m + ks[None, :] * sa_k
    b_at = B + ks[:, None] * sb_k + cols[None, :] * sb_n
    acc = tl.zeros((TILE_M, TILE_N), tl.float32)
    for k in range(0, tl.cdiv(K, TILE_K * SLICES)):
        left = K - k * TILE_K * SLICES
        a = tl.load(a_at, mask=ks[None, :] < left, other=0.0)
        b = tl.load(b_at, mask=ks[:, None] < left, other=0.0)
        acc += tl.dot(a, b)
        a_at += TILE_K * SLICES * sa_k
        b_at += TILE_K * SLICES * sb_k
    out_m = m * TILE_M + tl.arange(0, TILE_M)
    out_n = n * TILE_N + tl.arange(0, TILE_N)
    inside = (out_m < M)[:, None] & (out_n < N)[None, :]
    tl.atomic_add(C + out_m[:, None] * sc_m + out_n[None, :] * sc_n, acc, mask=inside, sem="relaxed")


@triton.jit
def _linear_resident(
    A, B, C, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, GROUP: tl.constexpr,
    PROGRAMS: tl.constexpr,
):
    a_desc = tl.make_tensor_descriptor(A, shape=[M, K], strides=[K, 1], block_shape=[TILE_M, TILE_K])
    b_desc = tl.make_tensor_descriptor(B, shape=[N, K], strides=[K, 1], block_shape=[TILE_N, TILE_K])
    c_desc = tl.make_tensor_descriptor(C, shape=[M, N], strides=[N, 1], block_shape=[TILE_M, TILE_N])
    tiles_m, tiles_n = tl.cdiv(M, TILE_M), tl.cdiv(N, TILE_N)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, PROGRAMS, flatten=True):
        m, n = _place_in_group(tile, tiles_m, tiles_n, GROUP)
        acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
        for k in range(tl.cdiv(K, TILE_K)):
            a = a_desc.load([m * TILE_M, k * TILE_K])
            b = b_desc.load([n * TILE_N, k * TILE_K])
            acc = tl.dot(a, b.T, acc)
        c_desc.store([m * TILE_M, n * TILE_N], acc.to(tl.bfloat16))


@triton.jit
def _chunk_gram(
    Q, K, S, T, H: tl.constexpr, D: tl.constexpr, CHUNK: tl.constexpr, TILE_D: tl.constexpr
):
    chunk, bh = tl.program_id(0), tl.program_id(1)
    b, h = bh // H, bh % H
    Q += (b * T * H + h).to(tl.int64) * D
    K += (b * T * H + h).to(tl.int64) * D
    acc = tl.zeros([CHUNK, CHUNK], dtype=tl.float32)
    for d in range(tl.cdiv(D, TILE_D)):
        pq = tl.make_block_ptr(Q, (T, D), (H * D, 1), (chunk * CHUNK, d * TILE_D), (CHUNK, TILE_D), (1, 0))
        pk = tl.make_block_ptr(K, (D, T), (1, H * D), (d * TILE_D, chunk * CHUNK), (TILE_D, CHUNK), (0, 1))
        q = tl.load(pq, boundary_check=(0, 1)).to(tl.float32)
        k = tl.load(pk, boundary_check=(0, 1)).to(tl.float32)
        acc += tl.dot(q, k)
    ps = tl.make_block_ptr(S + bh.to(tl.int64) * T * CHUNK, (T, CHUNK), (CHUNK, 1), (chunk * CHUNK, 0), (CHUNK, CHUNK),
                           (1, 0))
    tl.store(ps, acc.to(S.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def _expert_linear(
    X, W, Y, SortedToken, ExpertOfBlock, Padded, N, K, n_routed, sx_m, sx_k, sw_e, sw_n, sw_k, sy_m, sy_n,
    TOP_K: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, TILE_N)
    m = pid // tiles_n
    n = pid % tiles_n
    if m * TILE_M >= tl.load(Padded):
        return
    slot = m * TILE_M + tl.arange(0, TILE_M).to(tl.int64)
    token = tl.load(SortedToken + slot)
    live = token < n_routed
    cols = (n * TILE_N + tl.arange(0, TILE_N).to(tl.int64)) % N
    ks = tl.arange(0, TILE_K)
    x_at = X + (token[:, None] // TOP_K * sx_m + ks[None, :] * sx_k)
    w_at = W + tl.load(ExpertOfBlock + m).to(tl.int64) * sw_e + ks[:, None] * sw_k + cols[None, :] * sw_n
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, TILE_K)):
        x = tl.load(x_at, mask=live[:, None] & (ks[None, :] < K - k * TILE_K), other=0.0)
        w = tl.load(w_at, mask=ks[:, None] < K - k * TILE_K, other=0.0)
        acc += tl.dot(x, w)
        x_at += TILE_K * sx_k
        w_at += TILE_K * sw_k
    out_n = n * TILE_N + tl.arange(0, TILE_N)
    tl.store(Y + token[:, None] * sy_m + out_n[None, :] * sy_n, acc.to(Y.dtype.element_ty),
             mask=live[:, None] & (out_n[None, :] < N))


def linear(a, b, bias):
    M, K, N = a.shape[0], a.shape[1], b.shape[1]
    c = torch.empty(M, N, device=a.device, dtype=a.dtype)
    grid = lambda meta: (triton.cdiv(M, meta["TILE_M"]) * triton.cdiv(N, meta["TILE_N"]),)
    _linear_act[grid](a, b, c, bias, M, N, K, *a.stride(), *b.stride(), *c.stride())
    return c


def linear_slices(a, b, slices=4):
    M, K, N = a.shape[0], a.shape[1], b.shape[1]
    c = torch.zeros(M, N, device=a.device)
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64), slices)
    _linear_slices[grid](a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
                         TILE_M=64, TILE_N=64, TILE_K=64, SLICES=slices, num_warps=4, num_stages=3)
    return c


def linear_resident(a, b):
    M, K, N = a.shape[0], a.shape[1], b.shape[0]
    c = torch.empty(M, N, device=a.device, dtype=torch.bfloat16)
    programs = torch.cuda.get_device_properties(a.device).multi_processor_count
    _linear_resident[(programs,)](a, b, c, M, N, K, TILE_M=128, TILE_N=128, TILE_K=64, GROUP=8, PROGRAMS=programs)
    return c


def gram(q, k, chunk=64):
    B, T, H, D = q.shape
    s = torch.empty(B, H, T, chunk, device=q.device, dtype=q.dtype)
    _chunk_gram[(triton.cdiv(T, chunk), B * H)](q, k, s, T, H, D, CHUNK=chunk, TILE_D=64)
    return s


def expert_linear(x, w, y, sorted_token, expert, padded, top_k):
    grid = (triton.cdiv(sorted_token.shape[0], 64) * triton.cdiv(w.shape[1], 64),)
    _expert_linear[grid](x, w, y, sorted_token, expert, padded, w.shape[1], w.shape[2], x.shape[0] * top_k, x.stride(0),
                         x.stride(1), w.stride(0), w.stride(1), w.stride(2), y.stride(0), y.stride(1), TOP_K=top_k,
                         TILE_M=64, TILE_N=64, TILE_K=32)
    return y
