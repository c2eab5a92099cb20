"""Norms, softmax, losses: a program for a row or for rows."""

import functools

import torch
import triton
from triton import language as T
from triton.language.extra import libdevice


@triton.jit
def _add_rms(X, x_row, R, r_row, W, Y, y_row, RSTD, n_cols, eps, BLOCK: T.constexpr):
    row = T.program_id(0)
    col = T.arange(0, BLOCK)
    keep = col < n_cols
    x = T.load(X + row * x_row + col, mask=keep, other=0).to(T.float32)
    x += T.load(R + row * r_row + col, mask=keep, other=0).to(T.float32)
    T.store(R + row * r_row + col, x, mask=keep)
    rstd = T.rsqrt(T.sum(x * x, axis=0) / n_cols + eps)
    T.store(RSTD + row, rstd)
    T.store(Y + row * y_row + col, x * rstd * T.load(W + col, mask=keep, other=0), mask=keep)


@triton.jit
def _rms_grad(DY, X, W, RSTD, DX, DW_part, n_rows, n_cols, rows_each, BLOCK: T.constexpr):
    p = T.program_id(0).to(T.int64)
    col = T.arange(0, BLOCK)
    keep = col < n_cols
    w = T.load(W + col, mask=keep, other=0).to(T.float32)
    dw = T.zeros((BLOCK,), T.float32)
    for row in range(p * rows_each, min((p + 1) * rows_each, n_rows)):
        x = T.load(X + row * n_cols + col, mask=keep, other=0).to(T.float32)
        dy = T.load(DY + row * n_cols + col, mask=keep, other=0).to(T.float32)
        r = T.load(RSTD + row)
        m = dy * w
        dx = r * (m - x * r * r * T.sum(m * x, axis=0) / n_cols)
        T.store(DX + row * n_cols + col, dx, mask=keep)
        dw += dy * (x * r)
    T.store(DW_part + p * n_cols + col, dw, mask=keep)


@triton.jit
def _wide_layer_norm(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK: T.constexpr):
    row = T.program_id(0)
    X += row * stride
    Y += row * stride
    total = T.zeros([BLOCK], dtype=T.float32)
    for off in range(0, N, BLOCK):
        cols = off + T.arange(0, BLOCK)
        total += T.load(X + cols, mask=cols < N, other=0.).to(T.float32)
    mean = T.sum(total, axis=0) / N
    squares = T.zeros([BLOCK], dtype=T.float32)
    for off in range(0, N, BLOCK):
        cols = off + T.arange(0, BLOCK)
        x = T.load(X + cols, mask=cols < N, other=0.).to(T.float32)
        x = T.where(cols < N, x - mean, 0.)
        squares += x * x
    rstd = 1 / T.sqrt(T.sum(squares, axis=0) / N + eps)
    T.store(Mean + row, mean)
    T.store(Rstd + row, rstd)
    for off in range(0, N, BLOCK):
        cols = off + T.arange(0, BLOCK)
        mask = cols < N
        w = T.load(W + cols, mask=mask)
        b = T.load(B + cols, mask=mask)
        x = T.load(X + cols, mask=mask, other=0.).to(T.float32)
        T.store(Y + cols, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def _group_norm(x_ptr, y_ptr, w_ptr, b_ptr, hw, channels_each, n_groups, eps,
                HW: T.constexpr, C: T.constexpr, SILU: T.constexpr):
    g = T.program_id(0).to(T.int64)
    c = T.arange(0, C)
    s = T.arange(0, HW)
    inside = (c[:, None] < channels_each) & (s[None, :] < hw)
    at = g * channels_each * hw + c[:, None] * hw + s[None, :]
    x = T.load(x_ptr + at, mask=inside, other=0.0).to(T.float32)
    count = channels_each * hw
    mean = T.sum(x) / count
    diff = T.where(inside, x - mean, 0.0)
    inv = libdevice.rsqrt(T.sum(diff * diff) / count + eps)
    ch = (g % n_groups) * channels_each + c
    w = T.load(w_ptr + ch, mask=c < channels_each, other=1.0)
    b = T.load(b_ptr + ch, mask=c < channels_each, other=0.0)
    y = diff * inv * w[:, None] + b[:, None]
    if SILU:
        y = y * T.sigmoid(y)
    T.store(y_ptr + at, y, mask=inside)


@triton.jit
def _qk_head_norm_rope(qkv, q_w, k_w, cos, sin, pos, row_stride, nq, nk, eps, HD: T.constexpr, HALF: T.constexpr):
    t = T.program_id(0).to(T.int64)
    h = T.program_id(1)
    is_q = h < nq
    w_ptr = q_w if is_q else k_w
    two = T.arange(0, 2)
    i = T.arange(0, HALF)
    base = qkv + t * row_stride + h * HD
    x1 = T.load(base + i).to(T.float32)
    x2 = T.load(base + HALF + i).to(T.float32)
    ms = (T.sum(x1 * x1, 0) + T.sum(x2 * x2, 0)) / HD
    r = T.math.rsqrt(ms + eps)
    x1 = x1 * r * T.load(w_ptr + i)
    x2 = x2 * r * T.load(w_ptr + HALF + i)
    p = T.load(pos + t)
    c = T.load(cos + p.to(T.int64) * HALF + i)
    s = T.load(sin + p.to(T.int64) * HALF + i)
    T.store(base + i, x1 * c - x2 * s)
    T.store(base + HALF + i, x2 * c + x1 * s)


@triton.autotune(configs=[triton.Config({"BT": bt}, num_warps=w) for bt in (8, 16, 32) for w in (2, 4)], key=["D"])
@triton.jit(do_not_specialize=["n"])
def _unit_rows(x, y, eps, n, D: T.constexpr, BD: T.constexpr, BT: T.constexpr):
    i = T.program_id(0)
    p = T.make_block_ptr(x, (n, D), (D, 1), (i * BT, 0), (BT, BD), (1, 0))
    b = T.load(p, boundary_check=(0, 1)).to(T.float32)
    norm = T.sqrt(T.sum(b * b, 1) + eps)
    b = b / norm[:, None]
    o = T.make_block_ptr(y, (n, D), (D, 1), (i * BT, 0), (BT, BD), (1, 0))
    T.store(o, b.to(o.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def _rms_to_fp8(x_ptr, w_ptr, q_ptr, s_ptr, n, eps, FP8_MAX: T.constexpr, BLOCK: T.constexpr, PDL: T.constexpr):
    if PDL:
        T.extra.cuda.gdc_wait()
    row = T.program_id(0).to(T.int64)
    cols = T.arange(0, BLOCK)
    m = cols < n
    x = T.load(x_ptr + row * n + cols, mask=m, other=0.0, eviction_policy="evict_first").to(T.float32)
    w = T.load(w_ptr + cols, mask=m, other=0.0, eviction_policy="evict_last").to(T.float32)
    y = x * T.rsqrt(T.sum(x * x, 0) / n + eps) * w
    amax = T.maximum(T.max(T.abs(y), 0), 1e-10)
    scale = amax / FP8_MAX
    T.store(s_ptr + row, scale)
    T.store(q_ptr + row * n + cols, (y / scale).to(q_ptr.dtype.element_ty), mask=m)
    if PDL:
        T.extra.cuda.gdc_launch_dependents()


@triton.jit
def _sampling_probs(logits, probs, temps, vocab, BLOCK: T.constexpr):
    row = T.program_id(0).to(T.int64)
    inv_t = 1.0 / T.load(temps + row)
    m = -float("inf")
    z = 0.0
    for v0 in range(0, vocab, BLOCK):
        v = v0 + T.arange(0, BLOCK)
        s = T.load(logits + row * vocab + v, mask=v < vocab, other=-float("inf")).to(T.float32) * inv_t
        m2 = T.maximum(m, T.max(s, 0))
        z = z * T.exp(m - m2) + T.sum(T.exp(s - m2), 0)
        m = m2
    for v0 in range(0, vocab, BLOCK):
        v = v0 + T.arange(0, BLOCK)
        s = T.load(logits + row * vocab + v, mask=v < vocab, other=-float("inf")).to(T.float32) * inv_t
        T.store(probs + row * vocab + v, T.exp(s - m) / z, mask=v < vocab)


@triton.jit
def _ce_in_place(X, x_stride, Y, loss, n_cols, n_valid, ignore: T.constexpr, BLOCK: T.constexpr):
    pid = T.program_id(0).to(T.int64)
    y = T.load(Y + pid)
    X += pid * x_stride
    if y == ignore:
        for i in range(0, n_cols, BLOCK):
            o = i + T.arange(0, BLOCK)
            T.store(X + o, 0.0, mask=o < n_cols)
        return
    m = float("-inf")
    d = 0.0
    at_label = T.load(X + y).to(T.float32)
    for i in range(0, n_cols, BLOCK):
        o = i + T.arange(0, BLOCK)
        x = T.load(X + o, mask=o < n_cols, other=float("-inf")).to(T.float32)
        hi = T.maximum(m, T.max(x))
        d = d * T.exp(m - hi) + T.sum(T.exp(x - hi))
        m = hi
    for i in range(0, n_cols, BLOCK):
        o = i + T.arange(0, BLOCK)
        x = T.load(X + o, mask=o < n_cols, other=float("-inf")).to(T.float32)
        g = T.exp(x - m) / d
        g = T.where(o == y, g - 1.0, g)
        T.store(X + o, g / n_valid, mask=o < n_cols)
    T.store(loss + pid, m + T.log(d) - at_label)


def add_rms_norm(x, residual, w, eps):
    y = torch.empty_like(x)
    rstd = torch.empty(x.shape[0], device=x.device, dtype=torch.float32)
    _add_rms[(x.shape[0],)](x, x.stride(0), residual, residual.stride(0), w, y, y.stride(0), rstd, x.shape[1], eps,
                            BLOCK=triton.next_power_of_2(x.shape[1]))
    return y, rstd


@functools.lru_cache(maxsize=None)
def _sms():
    return torch.cuda.get_device_properties(0).multi_processor_count


def rms_norm_grad(dy, x, w, rstd):
    rows, cols = x.shape
    dx = torch.empty_like(x)
    part = torch.empty(_sms(), cols, device=x.device, dtype=torch.float32)
    _rms_grad[(_sms(),)](dy, x, w, rstd, dx, part, rows, cols, triton.cdiv(rows, _sms()),
                         BLOCK=triton.next_power_of_2(cols), num_warps=8)
    return dx, part.sum(0)


def layer_norm(x, w, b, eps):
    y = torch.empty_like(x)
    mean = torch.empty(x.shape[0], device=x.device)
    rstd = torch.empty_like(mean)
    _wide_layer_norm[(x.shape[0],)](x, y, w, b, mean, rstd, x.stride(0), x.shape[1], eps, BLOCK=2048, num_warps=8)
    return y, mean, rstd


def group_norm(x, w, b, groups, eps, silu):
    n, c, h, wd = x.shape
    y = torch.empty_like(x)
    _group_norm[(n * groups,)](x, y, w, b, h * wd, c // groups, groups, eps, HW=triton.next_power_of_2(h * wd),
                               C=triton.next_power_of_2(c // groups), SILU=silu)
    return y


def qk_norm_rope_(qkv, q_w, k_w, cos, sin, pos, nq, nk, hd, eps):
    _qk_head_norm_rope[(qkv.shape[0], nq + nk)](qkv, q_w, k_w, cos, sin, pos, qkv.stride(0), nq, nk, eps, hd, hd // 2)


def unit_rows(x):
    n, d = x.shape
    y = torch.empty_like(x)
    _unit_rows[lambda meta: (triton.cdiv(n, meta["BT"]),)](x, y, 1e-6, n, d, triton.next_power_of_2(d))
    return y


def rms_fp8(x, w, eps, pdl):
    q = torch.empty_like(x, dtype=torch.float8_e4m3fn)
    s = torch.empty(x.shape[0], device=x.device)
    _rms_to_fp8[(x.shape[0],)](x, w, q, s, x.shape[1], eps, 448.0, triton.next_power_of_2(x.shape[1]), pdl,
                               launch_pdl=pdl)
    return q, s


def sampling_probs(logits, temps):
    out = torch.empty_like(logits)
    _sampling_probs[(logits.shape[0],)](logits, out, temps, logits.shape[1], BLOCK=4096)
    return out


def cross_entropy_(x, y, ignore=-100):
    loss = torch.zeros(x.shape[0], device=x.device)
    _ce_in_place[(x.shape[0],)](x, x.stride(0), y, loss, x.shape[1], (y != ignore).sum().item(), ignore,
                                BLOCK=min(65536 // 2, triton.next_power_of_2(x.shape[1])), num_warps=32)
    return loss
