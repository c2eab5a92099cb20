"""Attention: forward in base 2 and in base e, split over keys with its combine, a paged decode with loaded slots."""

import torch
import triton
import triton.language as tl


@triton.jit
def _prompt_base2(
    Q, K, V, O, Lse, scale, n_ctx, sq_b, sq_h, sq_m, sk_b, sk_h, sk_n, so_b, so_h, so_m,
    D: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr, N_HEADS: tl.constexpr,
):
    start = tl.program_id(0)
    bh = tl.program_id(1)
    b = (bh // N_HEADS).to(tl.int64)
    h = (bh % N_HEADS).to(tl.int64)
    m = start * TILE_M + tl.arange(0, TILE_M)
    n = tl.arange(0, TILE_N)
    d = tl.arange(0, D)
    scale *= 1.44269504
    q = tl.load(Q + b * sq_b + h * sq_h + m[:, None] * sq_m + d[None, :], mask=m[:, None] < n_ctx, other=0.0)
    peak = tl.full([TILE_M], float("-inf"), tl.float32)
    norm = tl.zeros([TILE_M], tl.float32) + 1.0
    acc = tl.zeros([TILE_M, D], tl.float32)
    at = K + b * sk_b + h * sk_h
    at_v = V + b * sk_b + h * sk_h
    for lo in tl.range(0, (start + 1) * TILE_M, TILE_N, num_stages=2):
        lo = tl.multiple_of(lo, TILE_N)
        k = tl.load(at + (lo + n)[None, :] * sk_n + d[:, None], mask=(lo + n)[None, :] < n_ctx, other=0.0)
        s = tl.dot(q, k) * scale
        s = tl.where(m[:, None] >= (lo + n)[None, :], s, float("-inf"))
        new = tl.maximum(peak, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        fade = tl.math.exp2(peak - new)
        norm = norm * fade + tl.sum(p, 1)
        v = tl.load(at_v + (lo + n)[:, None] * sk_n + d[None, :], mask=(lo + n)[:, None] < n_ctx, other=0.0)
        acc = acc * fade[:, None] + tl.dot(p.to(v.dtype), v)
        peak = new
    tl.store(Lse + bh * n_ctx + m, peak + tl.math.log2(norm), mask=m < n_ctx)
    o = acc / norm[:, None]
    tl.store(O + b * so_b + h * so_h + m[:, None] * so_m + d[None, :], o.to(O.dtype.element_ty), mask=m[:, None] < n_ctx)


@triton.jit
def _prompt_base_e(Q, K, V, O, sm_scale, n_q, n_kv, D: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    tile, head = tl.program_id(0), tl.program_id(1).to(tl.int64)
    m = tile * TILE_M + tl.arange(0, TILE_M)
    d = tl.arange(0, D)
    q = tl.load(Q + head * n_q * D + m[:, None] * D + d[None, :], mask=m[:, None] < n_q, other=0.0)
    peak = tl.full([TILE_M], -1e30, tl.float32)
    norm = tl.zeros([TILE_M], tl.float32)
    acc = tl.zeros([TILE_M, D], tl.float32)
    for lo in range(0, n_kv, TILE_N):
        n = lo + tl.arange(0, TILE_N)
        k = tl.load(K + head * n_kv * D + n[None, :] * D + d[:, None], mask=n[None, :] < n_kv, other=0.0)
        s = tl.dot(q, k) * sm_scale
        s = tl.where(n[None, :] < n_kv, s, -1e30)
        new = tl.maximum(peak, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        fade = tl.exp(peak - new)
        v = tl.load(V + head * n_kv * D + n[:, None] * D + d[None, :], mask=n[:, None] < n_kv, other=0.0)
        acc = acc * fade[:, None] + tl.dot(p.to(v.dtype), v)
        norm = norm * fade + tl.sum(p, 1)
        peak = new
    tl.store(O + head * n_q * D + m[:, None] * D + d[None, :], acc / norm[:, None], mask=m[:, None] < n_q)


@triton.jit
def _paged_part(
    Q, KPool, VPool, Table, Lens, PartO, PartLse, sm_scale, sq_b, sq_h, pool_pitch, table_pitch,
    D: tl.constexpr, PAGE: tl.constexpr, TILE_N: tl.constexpr, PARTS: tl.constexpr,
):
    b, h, part = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    d = tl.arange(0, D)
    length = tl.load(Lens + b)
    per_part = tl.cdiv(length, PARTS)
    lo, hi = part * per_part, tl.minimum((part + 1) * per_part, length)
    q = tl.load(Q + b.to(tl.int64) * sq_b + h * sq_h + d)
    peak = -float("inf")
    norm = 0.0
    acc = tl.zeros([D], tl.float32)
    for start in range(lo, hi, TILE_N):
        n = start + tl.arange(0, TILE_N)
        page = tl.load(Table + b.to(tl.int64) * table_pitch + n // PAGE, mask=n < hi, other=0)
        at = page[:, None] * pool_pitch + (n % PAGE)[:, None] * D + d[None, :]
        k = tl.load(KPool + at, mask=n[:, None] < hi, other=0.0)
        s = tl.sum(q[None, :] * k, 1) * sm_scale
        s = tl.where(n < hi, s, float("-inf"))
        new = tl.maximum(peak, tl.max(s, 0))
        p = tl.exp(s - new)
        v = tl.load(VPool + at, mask=n[:, None] < hi, other=0.0)
        acc = acc * tl.exp(peak - new) + tl.sum(p[:, None] * v, 0)
        norm = norm * tl.exp(peak - new) + tl.sum(p, 0)
        peak = new
    if hi > lo:
        place = (b.to(tl.int64) * tl.num_programs(1) + h) * PARTS + part
        tl.store(PartO + place * D + d, acc / norm)
        tl.store(PartLse + place, peak + tl.log(norm))


@triton.jit
def _paged_join(PartO, PartLse, Lens, O, D: tl.constexpr, PARTS: tl.constexpr):
    b, h = tl.program_id(0).to(tl.int64), tl.program_id(1)
    d = tl.arange(0, D)
    base = (b * tl.num_programs(1) + h) * PARTS
    length = tl.load(Lens + b)
    per_part = tl.cdiv(length, PARTS)
    peak = -float("inf")
    norm = 0.0
    acc = tl.zeros([D], tl.float32)
    for part in tl.static_range(PARTS):
        if part * per_part < length:
            lse = tl.load(PartLse + base + part)
            new = tl.maximum(peak, lse)
            fade = tl.exp(peak - new)
            share = tl.exp(lse - new)
            acc = acc * fade + share * tl.load(PartO + (base + part) * D + d)
            norm = norm * fade + share
            peak = new
    tl.store(O + (b * tl.num_programs(1) + h) * D + d, acc / norm)


def prompt_base2(q, k, v):
    B, H, T, D = q.shape
    o, lse = torch.empty_like(q), torch.empty(B, H, T, device=q.device)
    _prompt_base2[(triton.cdiv(T, 64), B * H)](q, k, v, o, lse, D**-0.5, T, q.stride(0), q.stride(1), q.stride(2),
                                               k.stride(0), k.stride(1), k.stride(2), o.stride(0), o.stride(1),
                                               o.stride(2), D=D, TILE_M=64, TILE_N=64, N_HEADS=H)
    return o, lse


def prompt_base_e(q, k, v):
    H, T, D = q.shape
    o = torch.empty_like(q)
    _prompt_base_e[(triton.cdiv(T, 64), H)](q, k, v, o, D**-0.5, T, k.shape[1], D=D, TILE_M=64, TILE_N=32)
    return o


def paged(q, k_pool, v_pool, table, lens):
    B, H, D = q.shape
    part = torch.empty(B, H, 8, D, device=q.device)
    lse = torch.empty(B, H, 8, device=q.device)
    o = torch.empty_like(q)
    _paged_part[(B, H, 8)](q, k_pool, v_pool, table, lens, part, lse, D**-0.5, q.stride(0), q.stride(1),
                           k_pool.stride(0), table.stride(0), D=D, PAGE=16, TILE_N=32, PARTS=8)
    _paged_join[(B, H)](part, lse, lens, o, D=D, PARTS=8)
    return o
