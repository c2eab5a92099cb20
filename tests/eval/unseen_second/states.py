"""Linear attention and state space models: steps, chunks and rings."""

import torch
import triton
import triton.language as tl
from triton.language import constexpr


@triton.jit
def _sq(x):
    return tl.rsqrt(tl.sum(x * x) + 1e-6)


@triton.jit(do_not_specialize=["T"])
def gdn_steps(q, k, v, g, beta, o, h0, ht, cu, scale, T, H: constexpr, HV: constexpr, K: constexpr, V: constexpr,
              BK: constexpr, BV: constexpr, INIT: constexpr, NORM_QK: constexpr):
    i_v, i_nh = tl.program_id(0), tl.program_id(1)
    i_n, i_hv = i_nh // HV, i_nh % HV
    i_h = i_hv // (HV // H)
    bos = tl.load(cu + i_n).to(tl.int64)
    n = tl.load(cu + i_n + 1).to(tl.int64) - bos
    ok = tl.arange(0, BK)
    ov = i_v * BV + tl.arange(0, BV)
    mk = ok < K
    mv = ov < V
    s = tl.zeros([BK, BV], dtype=tl.float32)
    if INIT:
        s += tl.load(h0 + i_nh.to(tl.int64) * K * V + ok[:, None] * V + ov[None, :], mask=mk[:, None] & mv[None, :], other=0)
    for t in range(0, n):
        row = (bos + t) * H + i_h
        rowv = (bos + t) * HV + i_hv
        bq = tl.load(q + row * K + ok, mask=mk, other=0).to(tl.float32)
        bk = tl.load(k + row * K + ok, mask=mk, other=0).to(tl.float32)
        bv = tl.load(v + rowv * V + ov, mask=mv, other=0).to(tl.float32)
        if NORM_QK:
            bq = bq / tl.sqrt(tl.sum(bq * bq) + 1e-6)
            bk = bk / tl.sqrt(tl.sum(bk * bk) + 1e-6)
        s *= tl.exp(tl.load(g + rowv).to(tl.float32))
        bv -= tl.sum(s * bk[:, None], 0)
        bv *= tl.load(beta + rowv).to(tl.float32)
        s += bk[:, None] * bv[None, :]
        tl.store(o + rowv * V + ov, tl.sum(s * (bq * scale)[:, None], 0).to(o.dtype.element_ty), mask=mv)
    tl.store(ht + i_nh.to(tl.int64) * K * V + ok[:, None] * V + ov[None, :], s, mask=mk[:, None] & mv[None, :])


@triton.jit
def gdn_one(mixed, a, b, A_log, dt_bias, o, pool, slots, row_stride, scale, H: constexpr, HV: constexpr,
            K: constexpr, V: constexpr, BK: constexpr, BV: constexpr):
    i_v = tl.program_id(0)
    i_n = tl.program_id(1).to(tl.int64)
    i_hv = tl.program_id(2)
    i_h = i_hv // (HV // H)
    ok = tl.arange(0, BK)
    ov = i_v * BV + tl.arange(0, BV)
    mk = ok < K
    mv = ov < V
    slot = tl.load(slots + i_n).to(tl.int64)
    if slot < 0:
        return
    base = mixed + i_n * row_stride
    bq = tl.load(base + i_h * K + ok, mask=mk, other=0).to(tl.float32)
    bk = tl.load(base + H * K + i_h * K + ok, mask=mk, other=0).to(tl.float32)
    bv = tl.load(base + 2 * H * K + i_hv * V + ov, mask=mv, other=0).to(tl.float32)
    bq *= _sq(bq) * scale
    bk *= _sq(bk)
    x = tl.load(a + i_n * HV + i_hv).to(tl.float32) + tl.load(dt_bias + i_hv).to(tl.float32)
    sp = tl.where(x > 20.0, x, tl.log(1.0 + tl.exp(x)))
    decay = tl.exp(-tl.exp(tl.load(A_log + i_hv).to(tl.float32)) * sp)
    beta = tl.sigmoid(tl.load(b + i_n * HV + i_hv).to(tl.float32))
    p = pool + (slot * HV + i_hv) * K * V + ok[:, None] * V + ov[None, :]
    s = tl.load(p, mask=mk[:, None] & mv[None, :], other=0) * decay
    u = (bv - tl.sum(s * bk[:, None], 0)) * beta
    s += bk[:, None] * u[None, :]
    tl.store(o + (i_n * HV + i_hv) * V + ov, tl.sum(s * bq[:, None], 0).to(o.dtype.element_ty), mask=mv)
    tl.store(p, s, mask=mk[:, None] & mv[None, :])


@triton.autotune([triton.Config({"BV": bv}, num_warps=w, num_stages=s) for bv in (32, 64) for w in (2, 4) for s in (2, 3)],
                 key=["K", "V", "BT"])
@triton.jit(do_not_specialize=["T"])
def gla_outputs(q, k, v, g, h, o, scale, T, H: constexpr, K: constexpr, V: constexpr, BT: constexpr, BV: constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1).to(tl.int64)
    i_b, i_h = i_bh // H, i_bh % H
    rows = i_t * BT + tl.arange(0, BT)
    ok = tl.arange(0, K)
    at = (i_b * T + rows) * H + i_h
    live = rows < T
    bq = tl.load(q + at[:, None] * K + ok[None, :], mask=live[:, None], other=0.0)
    bk = tl.load(k + at[:, None] * K + ok[None, :], mask=live[:, None], other=0.0)
    bg = tl.load(g + at[:, None] * K + ok[None, :], mask=live[:, None], other=0.0)
    qg = (bq * tl.exp2(bg) * scale).to(bq.dtype)
    kg = (bk * tl.exp2(-bg)).to(bk.dtype)
    A = tl.dot(qg, tl.trans(kg))
    A = tl.where(tl.arange(0, BT)[:, None] >= tl.arange(0, BT)[None, :], A, 0.0).to(bq.dtype)
    nt = tl.num_programs(0)
    for v0 in range(0, V, BV):
        ov = v0 + tl.arange(0, BV)
        bv = tl.load(v + at[:, None] * V + ov[None, :], mask=live[:, None], other=0.0)
        bh = tl.load(h + ((i_b * nt + i_t) * H + i_h) * K * V + ok[:, None] * V + ov[None, :])
        bo = tl.dot(qg, bh.to(qg.dtype)) + tl.dot(A, bv)
        tl.store(o + at[:, None] * V + ov[None, :], bo.to(o.dtype.element_ty), mask=live[:, None])


@triton.jit
def kda_decay_sums(raw, A_log, bias, gsum, T, H: constexpr, K: constexpr, BT: constexpr):
    c = tl.program_id(0)
    bh = tl.program_id(1).to(tl.int64)
    b, h = bh // H, bh % H
    rows = c * BT + tl.arange(0, BT)
    cols = tl.arange(0, K)
    at = ((b * T + rows)[:, None] * H + h) * K + cols[None, :]
    m = (rows < T)[:, None]
    x = tl.load(raw + at, mask=m, other=0.0).to(tl.float32) + tl.load(bias + h * K + cols)[None, :]
    step = -tl.exp(tl.load(A_log + h)) * tl.log(1.0 + tl.exp(x))
    tl.store(gsum + at, tl.cumsum(step, axis=0), mask=m)


@triton.jit
def kda_states(k, w, u, gsum, h, h0, T, NT, H: constexpr, K: constexpr, V: constexpr, BT: constexpr, BV: constexpr,
               HAS_H0: constexpr):
    i_v, i_bh = tl.program_id(0), tl.program_id(1).to(tl.int64)
    b, i_h = i_bh // H, i_bh % H
    ok = tl.arange(0, K)
    ov = i_v * BV + tl.arange(0, BV)
    s = tl.zeros([K, BV], dtype=tl.float32)
    if HAS_H0:
        s += tl.load(h0 + i_bh * K * V + ok[:, None] * V + ov[None, :])
    for c in range(NT):
        tl.store(h + ((b * NT + c) * H + i_h) * K * V + ok[:, None] * V + ov[None, :], s)
        rows = c * BT + tl.arange(0, BT)
        at = (b * T + rows) * H + i_h
        m = (rows < T)[:, None]
        bw = tl.load(w + at[:, None] * K + ok[None, :], mask=m, other=0.0).to(tl.float32)
        bu = tl.load(u + at[:, None] * V + ov[None, :], mask=m, other=0.0).to(tl.float32)
        bg = tl.load(gsum + at[:, None] * K + ok[None, :], mask=m, other=0.0)
        last = tl.minimum((c + 1) * BT, T) - 1
        gl = tl.load(gsum + ((b * T + last) * H + i_h) * K + ok)
        bk = tl.load(k + at[:, None] * K + ok[None, :], mask=m, other=0.0).to(tl.float32)
        bu -= tl.dot(bw, s)
        s *= tl.exp(gl)[:, None]
        s += tl.dot(tl.trans(bk * tl.exp(gl[None, :] - bg)), bu)


@triton.jit
def wkv_steps(r, k, v, w, u, o, s0, B: constexpr, T: constexpr, H: constexpr, D: constexpr, BD: constexpr, STATE: constexpr):
    i_d, i_bh = tl.program_id(0), tl.program_id(1).to(tl.int64)
    b, h = i_bh // H, i_bh % H
    i = tl.arange(0, D)
    j = i_d * BD + tl.arange(0, BD)
    s = tl.zeros([D, BD], dtype=tl.float32)
    if STATE:
        s += tl.load(s0 + i_bh * D * D + i[:, None] * D + j[None, :])
    bonus = tl.load(u + h * D + i)
    for t in range(T):
        at = ((b * T + t) * H + h) * D
        br = tl.load(r + at + i).to(tl.float32)
        bk = tl.load(k + at + i).to(tl.float32)
        bv = tl.load(v + at + j).to(tl.float32)
        bw = tl.load(w + at + i).to(tl.float32)
        kv = bk[:, None] * bv[None, :]
        tl.store(o + at + j, tl.sum(br[:, None] * (s + bonus[:, None] * kv), 0))
        s = s * tl.exp(-tl.exp(bw))[:, None] + kv


@triton.jit
def retention_chunks(q, k, v, o, log_decay, scale, T: constexpr, H: constexpr, D: constexpr, C: constexpr, BV: constexpr):
    i_v = tl.program_id(0)
    bh = tl.program_id(1).to(tl.int64)
    gamma = tl.load(log_decay + bh % H)
    i = tl.arange(0, C)
    decay = tl.where(i[:, None] >= i[None, :], tl.math.exp2((i[:, None] - i[None, :]) * gamma), 0.0)
    into = tl.math.exp2((i + 1) * gamma)
    out_of = tl.math.exp2((C - 1 - i) * gamma)
    whole = tl.math.exp2(C * gamma)
    s = tl.zeros([D, BV], dtype=tl.float32)
    for c0 in tl.range(0, T, C, num_stages=3):
        pq = tl.make_block_ptr(q + bh * T * D, (T, D), (D, 1), (c0, 0), (C, D), (1, 0))
        pk = tl.make_block_ptr(k + bh * T * D, (D, T), (1, D), (0, c0), (D, C), (0, 1))
        pv = tl.make_block_ptr(v + bh * T * D, (T, D), (D, 1), (c0, i_v * BV), (C, BV), (1, 0))
        po = tl.make_block_ptr(o + bh * T * D, (T, D), (D, 1), (c0, i_v * BV), (C, BV), (1, 0))
        bq = tl.load(pq, boundary_check=(0,))
        bk = tl.load(pk, boundary_check=(1,))
        bv = tl.load(pv, boundary_check=(0,))
        a = tl.dot(bq, bk) * decay * scale
        bo = tl.dot(a.to(bv.dtype), bv) + tl.dot(bq, s.to(bq.dtype)) * (into * scale)[:, None]
        s = s * whole + tl.dot(bk, (bv * out_of[:, None]).to(bk.dtype))
        tl.store(po, bo.to(po.dtype.element_ty), boundary_check=(0,))


@triton.heuristics({"HAS_Z": lambda a: a["z"] is not None, "HAS_BIAS": lambda a: a["dt_bias"] is not None})
@triton.jit
def ssm_step(state, x, dt, dt_bias, A, B, C, D_skip, z, out, idx, dim, N: constexpr, BM: constexpr, BN: constexpr,
             nheads, HAS_Z: constexpr, HAS_BIAS: constexpr):
    pm = tl.program_id(0)
    pb = tl.program_id(1).to(tl.int64)
    ph = tl.program_id(2)
    slot = tl.load(idx + pb).to(tl.int64)
    m = pm * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    ps = state + ((slot * nheads + ph) * dim + m[:, None]) * N + n[None, :]
    inside = (m[:, None] < dim) & (n[None, :] < N)
    s = tl.load(ps, mask=inside, other=0.0).to(tl.float32)
    row = pb * nheads + ph
    xv = tl.load(x + row * dim + m, mask=m < dim, other=0.0).to(tl.float32)
    d = tl.load(dt + row * dim + m, mask=m < dim, other=0.0).to(tl.float32)
    if HAS_BIAS:
        d += tl.load(dt_bias + ph * dim + m, mask=m < dim, other=0.0).to(tl.float32)
    d = tl.where(d <= 20.0, tl.log(1.0 + tl.exp(d)), d)
    a = tl.load(A + (ph * dim + m[:, None]) * N + n[None, :], mask=inside, other=0.0).to(tl.float32)
    bb = tl.load(B + pb * N + n, mask=n < N, other=0.0).to(tl.float32)
    cc = tl.load(C + pb * N + n, mask=n < N, other=0.0).to(tl.float32)
    s = s * tl.exp(a * d[:, None]) + (d * xv)[:, None] * bb[None, :]
    tl.store(ps, s, mask=inside)
    y = tl.sum(s * cc[None, :], 1) + xv * tl.load(D_skip + ph * dim + m, mask=m < dim, other=0.0)
    if HAS_Z:
        zz = tl.load(z + row * dim + m, mask=m < dim, other=0.0).to(tl.float32)
        y *= zz * tl.sigmoid(zz)
    tl.store(out + row * dim + m, y, mask=m < dim)


@triton.jit
def ssm_step_plain(state, x, dt, A, B, C, D_skip, out, idx, dim, N: constexpr, BM: constexpr, BN: constexpr, nheads):
    pm = tl.program_id(0)
    pb = tl.program_id(1).to(tl.int64)
    ph = tl.program_id(2)
    slot = tl.load(idx + pb).to(tl.int64)
    m = pm * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    inside = (m[:, None] < dim) & (n[None, :] < N)
    ps = state + ((slot * nheads + ph) * dim + m[:, None]) * N + n[None, :]
    s = tl.load(ps, mask=inside, other=0.0).to(tl.float32)
    row = pb * nheads + ph
    xv = tl.load(x + row * dim + m, mask=m < dim, other=0.0).to(tl.float32)
    d = tl.load(dt + row * dim + m, mask=m < dim, other=0.0).to(tl.float32)
    a = tl.load(A + (ph * dim + m[:, None]) * N + n[None, :], mask=inside, other=0.0).to(tl.float32)
    bb = tl.load(B + pb * N + n, mask=n < N, other=0.0).to(tl.float32)
    cc = tl.load(C + pb * N + n, mask=n < N, other=0.0).to(tl.float32)
    s = s * tl.exp(a * d[:, None]) + (d * xv)[:, None] * bb[None, :]
    tl.store(ps, s, mask=inside)
    y = tl.sum(s * cc[None, :], 1) + xv * tl.load(D_skip + ph * dim + m, mask=m < dim, other=0.0)
    tl.store(out + row * dim + m, y, mask=m < dim)


@triton.jit
def delta_ring_step(q, k, v, beta, o, base_state, ring_k, ring_u, write_pos, K: constexpr, V: constexpr, BV: constexpr,
                    RING: constexpr):
    i_v, i_bh = tl.program_id(0), tl.program_id(1).to(tl.int64)
    ok = tl.arange(0, K)
    ov = i_v * BV + tl.arange(0, BV)
    l = tl.arange(0, RING)
    pos = tl.load(write_pos + i_bh)
    used = l < pos
    rk = tl.load(ring_k + (i_bh * RING + l[:, None]) * K + ok[None, :], mask=used[:, None], other=0.0)
    ru = tl.load(ring_u + (i_bh * RING + l[:, None]) * V + ov[None, :], mask=used[:, None], other=0.0)
    ps = base_state + i_bh * K * V + ok[:, None] * V + ov[None, :]
    s = tl.load(ps)
    bk = tl.load(k + i_bh * K + ok).to(tl.float32)
    bq = tl.load(q + i_bh * K + ok).to(tl.float32)
    bv = tl.load(v + i_bh * V + ov).to(tl.float32)
    seen = tl.sum(s * bk[:, None], 0) + tl.sum(tl.sum(rk * bk[None, :], 1)[:, None] * ru, 0)
    u = (bv - seen) * tl.load(beta + i_bh)
    out = tl.sum(s * bq[:, None], 0) + tl.sum(tl.sum(rk * bq[None, :], 1)[:, None] * ru, 0) + tl.sum(bk * bq) * u
    tl.store(o + i_bh * V + ov, out)
    if pos == RING - 1:
        s += tl.sum(rk[:, :, None] * ru[:, None, :], 0) + bk[:, None] * u[None, :]
        tl.store(ps, s)
    else:
        tl.store(ring_u + (i_bh * RING + pos) * V + ov, u)
        if i_v == 0:
            tl.store(ring_k + (i_bh * RING + pos) * K + ok, bk)


@triton.jit
def gated_ring_step(q, k, v, g, o, checkpoint, buf_k, buf_v, buf_g, cursor, D: constexpr, L: constexpr):
    h = tl.program_id(0).to(tl.int64)
    at = tl.load(cursor + h)
    d = tl.arange(0, D)
    j = tl.arange(0, L)
    tl.store(buf_k + (h * L + at) * D + d, tl.load(k + h * D + d))
    tl.store(buf_v + (h * L + at) * D + d, tl.load(v + h * D + d))
    tl.store(buf_g + h * L + at, tl.load(g + h))
    tl.debug_barrier()
    live = j <= at
    gs = tl.cumsum(tl.load(buf_g + h * L + j, mask=live, other=0.0), 0)
    total = tl.sum(tl.load(buf_g + h * L + j, mask=live, other=0.0), 0)
    kk = tl.load(buf_k + (h * L + j[:, None]) * D + d[None, :], mask=live[:, None], other=0.0)
    vv = tl.load(buf_v + (h * L + j[:, None]) * D + d[None, :], mask=live[:, None], other=0.0)
    pc = checkpoint + h * D * D + d[:, None] * D + d[None, :]
    s = tl.load(pc) * tl.exp2(total)
    s += tl.dot(tl.trans(kk * tl.exp2(total - gs)[:, None]), vv, input_precision="ieee")
    bq = tl.load(q + h * D + d)
    tl.store(o + h * D + d, tl.sum(s * bq[:, None], 0))
    if at + 1 == L:
        tl.store(pc, s)
        tl.store(cursor + h, 0)
    else:
        tl.store(cursor + h, at + 1)


def run_gdn(q, k, v, g, beta, cu, scale, h0=None, norm=True):
    _, t, h, kd = q.shape
    hv, vd = v.shape[2:]
    n = cu.numel() - 1
    o = torch.empty_like(v)
    ht = torch.empty(n, hv, kd, vd, device=q.device, dtype=torch.float32)
    bv = min(triton.next_power_of_2(vd), 16)
    gdn_steps[(triton.cdiv(vd, bv), n * hv)](q, k, v, g, beta, o, h0, ht, cu, scale, t, h, hv, kd, vd,
                                             triton.next_power_of_2(kd), bv, h0 is not None, norm, num_warps=1, num_stages=3)
    return o, ht


def decode_gdn(mixed, a, b, A_log, dt_bias, pool, slots, h, hv, kd, vd):
    n = mixed.shape[0]
    o = torch.empty(n, hv, vd, device=mixed.device, dtype=mixed.dtype)
    sms = torch.cuda.get_device_properties(mixed.device).multi_processor_count
    bv = 32 if n * hv * (vd // 32) >= 2 * sms else 8
    gdn_one[(triton.cdiv(vd, bv), n, hv)](mixed, a, b, A_log, dt_bias, o, pool, slots, mixed.stride(0), kd ** -0.5,
                                          h, hv, kd, vd, triton.next_power_of_2(kd), bv, num_warps=1)
    return o


def gla(q, k, v, g, h, bt=64):
    b, t, hh, kd = q.shape
    o = torch.empty_like(v)
    gla_outputs[(triton.cdiv(t, bt), b * hh)](q, k, v, g, h, o, kd ** -0.5, t, hh, kd, v.shape[-1], bt)
    return o


def kda(k, w, u, raw, A_log, bias, h0, bt=64):
    b, t, hh, kd = k.shape
    vd = u.shape[-1]
    nt = triton.cdiv(t, bt)
    gsum = torch.empty_like(raw, dtype=torch.float32)
    kda_decay_sums[(nt, b * hh)](raw, A_log, bias, gsum, t, hh, kd, bt)
    h = torch.empty(b, nt, hh, kd, vd, device=k.device, dtype=torch.float32)
    kda_states[(triton.cdiv(vd, 32), b * hh)](k, w, u, gsum, h, h0, t, nt, hh, kd, vd, bt, 32, h0 is not None, num_warps=4)
    return h


def wkv(r, k, v, w, u, s0):
    b, t, h, d = r.shape
    o = torch.empty_like(v)
    wkv_steps[(d // 32, b * h)](r, k, v, w, u, o, s0, b, t, h, d, 32, s0 is not None)
    return o


def retention(q, k, v, log_decay):
    b, h, t, d = q.shape
    o = torch.empty_like(v)
    retention_chunks[(d // 64, b * h)](q, k, v, o, log_decay, d ** -0.5, t, h, d, 64, 64, num_warps=4)
    return o


def ssm(state, x, dt, dt_bias, A, B, C, D, z, idx):
    b, nh, dim = x.shape
    out = torch.empty_like(x)
    n = A.shape[-1]
    if z is None and dt_bias is None:
        ssm_step_plain[(triton.cdiv(dim, 64), b, nh)](state, x, dt, A, B, C, D, out, idx, dim, n, 64,
                                                      triton.next_power_of_2(n), nh)
        return out
    ssm_step[(triton.cdiv(dim, 64), b, nh)](state, x, dt, dt_bias, A, B, C, D, z, out, idx, dim, n, 64,
                                            triton.next_power_of_2(n), nh)
    return out


def rings(q, k, v, beta, state, rk, ru, pos):
    bh, vd = v.shape
    o = torch.empty_like(v)
    delta_ring_step[(triton.cdiv(vd, 64), bh)](q, k, v, beta, o, state, rk, ru, pos, k.shape[1], vd, 64, rk.shape[1])
    return o


def gated_rings(q, k, v, g, cp, bk, bv, bg, cursor):
    o = torch.empty_like(v)
    gated_ring_step[(q.shape[0],)](q, k, v, g, o, cp, bk, bv, bg, cursor, q.shape[1], bk.shape[1])
    return o
