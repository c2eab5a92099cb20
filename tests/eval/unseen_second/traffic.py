"""Elementwise work, gathers, packing, counting."""

from functools import lru_cache

import torch
import triton
import triton.language as tl


@triton.jit
def route_top(logits, weights, ids, n_exp, K: tl.constexpr, E: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    e = tl.arange(0, E)
    x = tl.load(logits + row * n_exp + e, mask=e < n_exp, other=-float("inf")).to(tl.float32)
    p = tl.exp(x - tl.max(x, 0))
    p = p / tl.sum(p, 0)
    total = 0.0
    for j in tl.static_range(K):
        best = tl.max(p, 0)
        at = tl.argmax(p, 0)
        tl.store(weights + row * K + j, best)
        tl.store(ids + row * K + j, at)
        total += best
        p = tl.where(e == at, -1.0, p)
    for j in tl.static_range(K):
        tl.store(weights + row * K + j, tl.load(weights + row * K + j) / total)


@triton.jit
def count_experts(ids, counts, n, E: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    e = tl.load(ids + o, mask=o < n, other=E)
    tl.atomic_add(counts + e, 1, mask=o < n)


@triton.jit
def claim_slots(ids, cursors, slots, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = o < n
    e = tl.load(ids + o, mask=ok, other=0)
    s = tl.atomic_add(cursors + e, 1, mask=ok)
    tl.store(slots + o, s, mask=ok)


@triton.jit
def pack_for_ranks(x, out, begins, counts, hidden, BLOCK: tl.constexpr):
    rank = tl.program_id(0)
    j = tl.program_id(1)
    if j < tl.load(counts + rank):
        src = (tl.load(begins + rank) + j).to(tl.int64)
        dst = rank.to(tl.int64) * tl.num_programs(1) + j
        for c in range(0, hidden, BLOCK):
            o = c + tl.arange(0, BLOCK)
            t = tl.load(x + src * hidden + o, mask=o < hidden)
            tl.store(out + dst * hidden + o, t, mask=o < hidden)


@triton.jit
def spread_pages(table, lens, begins, flat, table_stride, PAGE: tl.constexpr, BLOCK: tl.constexpr):
    req = tl.program_id(0).to(tl.int64)
    blk = tl.program_id(1)
    pages = tl.cdiv(tl.load(lens + req), PAGE)
    if blk * BLOCK >= pages:
        return
    o = blk * BLOCK + tl.arange(0, BLOCK)
    p = tl.load(table + req * table_stride + o, mask=o < pages, other=0)
    tl.store(flat + tl.load(begins + req) + o, p, mask=o < pages)


@triton.jit
def look_up(ids, emb, out, n, dim, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    tl.extra.cuda.gdc_wait()
    for i in range(tl.program_id(0), n, tl.num_programs(0)):
        t = tl.load(ids + i)
        row = tl.load(emb + t * dim + c, mask=c < dim, cache_modifier=".cg")
        tl.store(out + i * dim + c, row, mask=c < dim, cache_modifier=".cs")


@triton.jit
def drop(x, y, n, p, seed, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    v = tl.load(x + o, mask=m)
    keep = tl.rand(seed, o) > p
    tl.store(y + o, tl.where(keep, v / (1 - p), 0.0), mask=m)


@triton.jit
def swiglu_grad(dy, gate, up, dgate, dup, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    m = c < n
    at = row * stride + c
    d = tl.load(dy + at, mask=m, other=0.0).to(tl.float32)
    g = tl.load(gate + at, mask=m, other=0.0).to(tl.float32)
    u = tl.load(up + at, mask=m, other=0.0).to(tl.float32)
    silu = g * tl.sigmoid(g)
    tl.store(dup + at, d * silu, mask=m)
    tl.store(dgate + at, d * u * (tl.sigmoid(g) + silu * (1 - tl.sigmoid(g))), mask=m)


@triton.jit
def flip_tiles(src0, src1, dst, which, rows, cols, B: tl.constexpr):
    z = tl.program_id(2)
    src = tl.where(tl.load(which + z) != 0, src1, src0)
    r = (tl.program_id(0) * B + tl.arange(0, B)).to(tl.int64)
    c = (tl.program_id(1) * B + tl.arange(0, B)).to(tl.int64)
    base = z.to(tl.int64) * rows * cols
    t = tl.load(src + base + r[:, None] * cols + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < cols))
    tl.store(dst + base + c[:, None] * rows + r[None, :], tl.trans(t), mask=(c[:, None] < cols) & (r[None, :] < rows))


@lru_cache
def make_quantiser(bits):
    top = float(2 ** (bits - 1) - 1)

    @triton.jit
    def rows_to_int(x, q, s, n, TOP: tl.constexpr, BLOCK: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        c = tl.arange(0, BLOCK)
        v = tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
        scale = tl.maximum(tl.max(tl.abs(v), 0) / TOP, 1e-8)
        tl.store(s + row, scale)
        tl.store(q + row * n + c, (v / scale + 0.5).to(tl.int8), mask=c < n)

    def run(x):
        q = torch.empty_like(x, dtype=torch.int8)
        s = torch.empty(x.shape[0], device=x.device)
        rows_to_int[(x.shape[0],)](x, q, s, x.shape[1], top, triton.next_power_of_2(x.shape[1]))
        return q, s

    return run


def _keep_top(sorted_probs, cut, out, top_p, vocab, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    p = tl.load(sorted_probs + row * vocab + o, mask=o < vocab, other=0.0)
    before = tl.cumsum(p, 0) - p
    kept = tl.where(before < tl.load(top_p + row), p, 0.0)
    tl.store(cut + row, tl.sum((kept > 0).to(tl.int32), 0))
    tl.store(out + row * vocab + o, kept / tl.sum(kept, 0), mask=o < vocab)


keep_top = triton.jit(_keep_top)


@triton.jit
def conv_step(x, state, w, bias, y, idx, dim, W: tl.constexpr, BLOCK: tl.constexpr, SILU: tl.constexpr):
    b = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    m = c < dim
    slot = tl.load(idx + b).to(tl.int64)
    ps = state + (slot * dim + c) * (W - 1)
    new = tl.load(x + b * dim + c, mask=m, other=0.0)
    acc = tl.load(bias + c, mask=m, other=0.0).to(tl.float32)
    acc += new * tl.load(w + c * W + W - 1, mask=m, other=0.0)
    for i in tl.static_range(W - 1):
        old = tl.load(ps + i, mask=m, other=0.0)
        acc += old * tl.load(w + c * W + i, mask=m, other=0.0)
        if i > 0:
            tl.store(ps + i - 1, old, mask=m)
    tl.store(ps + W - 2, new, mask=m)
    if SILU:
        acc = acc / (1 + tl.exp(-acc))
    tl.store(y + b * dim + c, acc, mask=m)


def top_k_routing(logits, k):
    t, e = logits.shape
    w = torch.empty(t, k, device=logits.device)
    ids = torch.empty(t, k, device=logits.device, dtype=torch.int32)
    route_top[(t,)](logits, w, ids, e, k, triton.next_power_of_2(e), num_warps=1)
    return w, ids


def align(ids, n_experts):
    counts = torch.zeros(n_experts + 1, device=ids.device, dtype=torch.int32)
    count_experts[(triton.cdiv(ids.numel(), 1024),)](ids, counts, ids.numel(), n_experts, BLOCK=1024)
    starts = torch.cumsum(counts, 0) - counts
    slots = torch.empty_like(ids)
    claim_slots[(triton.cdiv(ids.numel(), 1024),)](ids, starts, slots, ids.numel(), BLOCK=1024)
    return slots


def pack(x, begins, counts, capacity):
    ranks = counts.numel()
    out = torch.empty(ranks, capacity, x.shape[1], device=x.device, dtype=x.dtype)
    pack_for_ranks[(ranks, capacity)](x, out, begins, counts, x.shape[1], BLOCK=1024)
    return out


def flatten_pages(table, lens, begins, flat, page):
    spread_pages[(lens.numel(), triton.cdiv(table.shape[1], 256))](table, lens, begins, flat, table.stride(0), page, 256)
    return flat


def embed(ids, emb):
    out = torch.empty(ids.numel(), emb.shape[1], device=emb.device, dtype=emb.dtype)
    sms = torch.cuda.get_device_properties(emb.device).multi_processor_count
    look_up[(min(ids.numel(), 4 * sms),)](ids, emb, out, ids.numel(), emb.shape[1],
                                          triton.next_power_of_2(emb.shape[1]), launch_pdl=True)
    return out


def dropout(x, p, seed):
    y = torch.empty_like(x)
    drop[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), p, seed, BLOCK=1024)
    return y


def swiglu_backward(dy, gate, up):
    dg, du = torch.empty_like(gate), torch.empty_like(up)
    rows, n = gate.shape
    swiglu_grad[(rows, triton.cdiv(n, 1024))](dy, gate, up, dg, du, gate.stride(0), n, BLOCK=1024)
    return dg, du


def transpose_pair(a, b, which):
    z, r, c = a.shape
    out = torch.empty(z, c, r, device=a.device, dtype=a.dtype)
    flip_tiles[(triton.cdiv(r, 32), triton.cdiv(c, 32), z)](a, b, out, which, r, c, B=32)
    return out


def top_p_filter(sorted_probs, top_p):
    out = torch.empty_like(sorted_probs)
    cut = torch.empty(sorted_probs.shape[0], device=out.device, dtype=torch.int32)
    keep_top[(sorted_probs.shape[0],)](sorted_probs, cut, out, top_p, sorted_probs.shape[1],
                                       triton.next_power_of_2(sorted_probs.shape[1]))
    return out, cut


def conv_update(x, state, w, bias, idx, act):
    y = torch.empty_like(x)
    conv_step[(x.shape[0], triton.cdiv(x.shape[1], 256))](x, state, w, bias, y, idx, x.shape[1], w.shape[1], 256,
                                                          act in ("silu", "swish"))
    return y
