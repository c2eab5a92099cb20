"""Attention: forward, backward, paged decoding in parts, and merges."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def _softmax_attention(Q, K, V, Out, Lse, sm_scale,
                       stride_qz, stride_qh, stride_qm, stride_kz, stride_kh, stride_kn,
                       stride_oz, stride_oh, stride_om, H, N_CTX,
                       HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    start_m = tl.program_id(0)
    off_hz = tl.program_id(1)
    off_z = (off_hz // H).to(tl.int64)
    off_h = (off_hz % H).to(tl.int64)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, HEAD_DIM)
    q_base = Q + off_z * stride_qz + off_h * stride_qh
    kv_off = off_z * stride_kz + off_h * stride_kh
    q = tl.load(q_base + offs_m[:, None].to(tl.int64) * stride_qm + offs_d[None, :], mask=offs_m[:, None] < N_CTX, other=0.0)
    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)
    hi = tl.minimum((start_m + 1) * BLOCK_M, N_CTX) if CAUSAL else N_CTX
    for lo in range(0, hi, BLOCK_N):
        cols = (lo + offs_n).to(tl.int64)
        k = tl.load(K + kv_off + cols[None, :] * stride_kn + offs_d[:, None], mask=cols[None, :] < N_CTX, other=0.0)
        s = tl.dot(q, k) * sm_scale
        s = tl.where(cols[None, :] < N_CTX, s, float("-inf"))
        if CAUSAL:
            s = tl.where(offs_m[:, None] >= cols[None, :], s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.exp(s - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(V + kv_off + cols[:, None] * stride_kn + offs_d[None, :], mask=cols[:, None] < N_CTX, other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m_i = m_new
    out = acc / l_i[:, None]
    tl.store(Lse + off_hz.to(tl.int64) * N_CTX + offs_m, m_i + tl.log(l_i), mask=offs_m < N_CTX)
    o_base = Out + off_z * stride_oz + off_h * stride_oh
    tl.store(o_base + offs_m[:, None].to(tl.int64) * stride_om + offs_d[None, :], out.to(Out.dtype.element_ty),
             mask=offs_m[:, None] < N_CTX)


@triton.jit
def _bwd_delta(O, DO, Delta, N_CTX, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    head = tl.program_id(1).to(tl.int64)
    cols = tl.arange(0, HEAD_DIM)
    at = head * N_CTX * HEAD_DIM + rows[:, None] * HEAD_DIM + cols[None, :]
    ok = rows < N_CTX
    o = tl.load(O + at, mask=ok[:, None], other=0.0).to(tl.float32)
    do = tl.load(DO + at, mask=ok[:, None], other=0.0).to(tl.float32)
    tl.store(Delta + head * N_CTX + rows, tl.sum(o * do, axis=1), mask=ok)


@triton.jit
def _bwd_keys(Q, K, V, DO, Lse, Delta, DK, DV, qk_scale, N_CTX,
              HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    LN2: tl.constexpr = 0.6931471824645996
    n0 = tl.program_id(0) * BLOCK_N
    head = tl.program_id(1).to(tl.int64)
    base = head * N_CTX * HEAD_DIM
    cols = tl.arange(0, HEAD_DIM)
    keys = n0 + tl.arange(0, BLOCK_N)
    k = tl.load(K + base + keys[:, None] * HEAD_DIM + cols[None, :])
    v = tl.load(V + base + keys[:, None] * HEAD_DIM + cols[None, :])
    dk = tl.zeros([BLOCK_N, HEAD_DIM], dtype=tl.float32)
    dv = tl.zeros([BLOCK_N, HEAD_DIM], dtype=tl.float32)
    for m0 in tl.range(n0, N_CTX, BLOCK_M, num_stages=2):
        rows = m0 + tl.arange(0, BLOCK_M)
        qT = tl.load(Q + base + rows[None, :] * HEAD_DIM + cols[:, None])
        lse = tl.load(Lse + head * N_CTX + rows)
        pT = tl.math.exp2(tl.dot(k, qT) * qk_scale - lse[None, :])
        pT = tl.where(rows[None, :] >= keys[:, None], pT, 0.0)
        do = tl.load(DO + base + rows[:, None] * HEAD_DIM + cols[None, :])
        dv += tl.dot(pT.to(do.dtype), do)
        delta = tl.load(Delta + head * N_CTX + rows)
        dsT = pT * (tl.dot(v, tl.trans(do)) - delta[None, :])
        dk += tl.dot(dsT.to(qT.dtype), tl.trans(qT))
    tl.store(DV + base + keys[:, None] * HEAD_DIM + cols[None, :], dv)
    tl.store(DK + base + keys[:, None] * HEAD_DIM + cols[None, :], dk * (qk_scale * LN2))


@triton.jit
def _pages_part(q_ptr, kpool, vpool, table, lens, part_o, part_lse, scale_log2e, table_stride, n_heads,
                GROUP: tl.constexpr, D: tl.constexpr, PAGE: tl.constexpr, PARTS: tl.constexpr):
    b = tl.program_id(0).to(tl.int64)
    kvh = tl.program_id(1).to(tl.int64)
    part = tl.program_id(2)
    n = tl.load(lens + b)
    pages = tl.cdiv(n, PAGE)
    share = tl.cdiv(pages, PARTS)
    first = part * share
    last = tl.minimum(first + share, pages)
    d = tl.arange(0, D)
    g = tl.arange(0, GROUP)
    q = tl.load(q_ptr + (b * n_heads + kvh * GROUP + g[:, None]) * D + d[None, :])
    m = tl.full((GROUP,), -1e30, tl.float32)
    z = tl.zeros((GROUP,), tl.float32)
    o = tl.zeros((GROUP, D), tl.float32)
    slot = tl.arange(0, PAGE)
    for p in range(first, last):
        page = tl.load(table + b * table_stride + p).to(tl.int64)
        k = tl.load(kpool + (page * PAGE + slot[None, :]) * D + d[:, None])
        v = tl.load(vpool + (page * PAGE + slot[:, None]) * D + d[None, :])
        s = tl.dot(q, k) * scale_log2e
        s = tl.where(p * PAGE + slot[None, :] < n, s, -1e30)
        top = tl.maximum(m, tl.max(s, 1))
        e = tl.exp2(s - top[:, None])
        c = tl.exp2(m - top)
        z = z * c + tl.sum(e, 1)
        o = o * c[:, None] + tl.dot(e.to(v.dtype), v)
        m = top
    row = (b * n_heads + kvh * GROUP + g) * PARTS + part
    tl.store(part_o + row[:, None] * D + d[None, :], o / z[:, None])
    tl.store(part_lse + row, m + tl.log2(z))


@triton.jit
def _pages_join(part_o, part_lse, out, D: tl.constexpr, PARTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    d = tl.arange(0, D)
    m = -1e30
    z = 0.0
    acc = tl.zeros((D,), tl.float32)
    for part in tl.static_range(PARTS):
        w = tl.load(part_lse + row * PARTS + part)
        o = tl.load(part_o + (row * PARTS + part) * D + d)
        top = tl.maximum(m, w)
        old = tl.exp2(m - top)
        new = tl.exp2(w - top)
        acc = acc * old + new * o
        z = z * old + new
        m = top
    tl.store(out + row * D + d, acc / z)


@triton.jit
def _one_query(q, k_cache, v_cache, out, seq_lens, scale, n_kv_heads, max_len, rep,
               D: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0).to(tl.int64)
    h = tl.program_id(1)
    kvh = h // rep
    n = tl.load(seq_lens + b)
    d = tl.arange(0, D)
    query = tl.load(q + (b * tl.num_programs(1) + h) * D + d).to(tl.float32)
    best = -float("inf")
    denom = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        t = start + tl.arange(0, BLOCK)
        at = ((b * max_len + t[:, None]) * n_kv_heads + kvh) * D + d[None, :]
        k = tl.load(k_cache + at, mask=t[:, None] < n, other=0).to(tl.float32)
        score = tl.sum(query[None, :] * k, 1) * scale
        score = tl.where(t < n, score, -float("inf"))
        new_best = tl.maximum(best, tl.max(score, 0))
        corr = tl.exp(best - new_best)
        w = tl.exp(score - new_best)
        v = tl.load(v_cache + at, mask=t[:, None] < n, other=0).to(tl.float32)
        acc = acc * corr + tl.sum(w[:, None] * v, 0)
        denom = denom * corr + tl.sum(w, 0)
        best = new_best
    tl.store(out + (b * tl.num_programs(1) + h) * D + d, acc / denom)


@triton.jit
def _latent_query(q, latent, out, seq_lens, table, table_stride, scale_log2e, H: tl.constexpr, R: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0).to(tl.int64)
    h = tl.program_id(1) * 16 + tl.arange(0, 16)
    r = tl.arange(0, R)
    n = tl.load(seq_lens + b)
    qq = tl.load(q + (b * H + h[:, None]) * R + r[None, :])
    m = tl.zeros([16], tl.float32) - float("inf")
    z = tl.zeros([16], tl.float32)
    acc = tl.zeros([16, R], tl.float32)
    for start in tl.range(0, n, BLOCK):
        t = start + tl.arange(0, BLOCK)
        loc = tl.load(table + b * table_stride + t, mask=t < n, other=0).to(tl.int64)
        c = tl.load(latent + loc[:, None] * R + r[None, :], mask=(t < n)[:, None], other=0.0)
        s = tl.dot(qq, tl.trans(c)) * scale_log2e
        s = tl.where((t < n)[None, :], s, float("-inf"))
        mm = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - mm[:, None])
        f = tl.exp2(m - mm)
        z = z * f + tl.sum(p, 1)
        acc = acc * f[:, None] + tl.dot(p.to(c.dtype), c)
        m = mm
    tl.store(out + (b * H + h[:, None]) * R + r[None, :], acc / z[:, None])


@triton.jit
def _join_two_states(out, out_lse, pre, pre_lse, suf, suf_lse, n_heads, D: tl.constexpr, DP: tl.constexpr):
    tok = tl.program_id(0)
    h = tl.program_id(1)
    a = tl.load(pre_lse + tok * n_heads + h)
    c = tl.load(suf_lse + tok * n_heads + h)
    top = tl.maximum(a, c)
    total = tl.exp(a - top) + tl.exp(c - top)
    tl.store(out_lse + tok * n_heads + h, tl.log(total) + top)
    d = tl.arange(0, DP)
    ok = d < D
    x = tl.load(pre + (tok * n_heads + h) * D + d, mask=ok)
    y = tl.load(suf + (tok * n_heads + h) * D + d, mask=ok)
    mixed = x * (tl.exp(a - top) / total) + y * (tl.exp(c - top) / total)
    tl.store(out + (tok * n_heads + h) * D + d, mixed, mask=ok)


def attention(q, k, v, causal=True):
    z, h, n, d = q.shape
    o = torch.empty_like(q)
    lse = torch.empty(z, h, n, device=q.device, dtype=torch.float32)
    block_m = 128 if d <= 64 else 64
    _softmax_attention[(triton.cdiv(n, block_m), z * h)](
        q, k, v, o, lse, d ** -0.5, q.stride(0), q.stride(1), q.stride(2), k.stride(0), k.stride(1), k.stride(2),
        o.stride(0), o.stride(1), o.stride(2), h, n, HEAD_DIM=d, BLOCK_M=block_m, BLOCK_N=64, CAUSAL=causal,
        num_warps=4 if d <= 64 else 8, num_stages=3)
    return o, lse


def attention_backward(q, k, v, o, do, lse):
    z, h, n, d = q.shape
    delta = torch.empty_like(lse)
    dk, dv = torch.empty_like(k), torch.empty_like(v)
    _bwd_delta[(triton.cdiv(n, 128), z * h)](o, do, delta, n, HEAD_DIM=d, BLOCK_M=128)
    _bwd_keys[(n // 64, z * h)](q, k, v, do, lse, delta, dk, dv, d ** -0.5 * math.log2(math.e), n,
                                HEAD_DIM=d, BLOCK_M=32, BLOCK_N=64)
    return dk, dv


def paged_attention(q, kpool, vpool, table, lens, page):
    b, heads, d = q.shape
    kv_heads = kpool.shape[2]
    parts = 16
    po = torch.empty(b, heads, parts, d, device=q.device, dtype=torch.float32)
    pl = torch.empty(b, heads, parts, device=q.device, dtype=torch.float32)
    out = torch.empty_like(q)
    _pages_part[(b, kv_heads, parts)](q, kpool, vpool, table, lens, po, pl, 1.4426950408889634 * d ** -0.5,
                                      table.stride(0), heads, GROUP=heads // kv_heads, D=d, PAGE=page, PARTS=parts)
    _pages_join[(b * heads,)](po, pl, out, D=d, PARTS=parts)
    return out


def plain_decode(q, kc, vc, lens):
    b, h, d = q.shape
    out = torch.empty_like(q)
    _one_query[(b, h)](q, kc, vc, out, lens, d ** -0.5, kc.shape[2], kc.shape[1], h // kc.shape[2], D=d, BLOCK=64)
    return out


def latent_decode(q, latent, lens, table):
    b, h, r = q.shape
    out = torch.empty_like(q)
    _latent_query[(b, h // 16)](q, latent, out, lens, table, table.stride(0), 1.44269504 * r ** -0.5, h, r, BLOCK=32)
    return out


def merge(pre, pre_lse, suf, suf_lse):
    out, lse = torch.empty_like(pre), torch.empty_like(pre_lse)
    t, h, d = pre.shape
    _join_two_states[(t, h)](out, lse, pre, pre_lse, suf, suf_lse, h, D=d, DP=triton.next_power_of_2(d))
    return out, lse
