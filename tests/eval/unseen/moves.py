"""Copies and elementwise kernels: a strided copy, a gather of pool rows, an activation, a rotation, a fold of parts."""

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def _gather_rows(Out, Pool, Index, pitch, width, TILE: tl.constexpr):
    r = tl.program_id(0)
    c = tl.program_id(1) * TILE + tl.arange(0, TILE)
    source = tl.load(Index + r)
    v = tl.load(Pool + source * pitch + c, mask=c < width, other=0.0)
    tl.store(Out + r.to(tl.int64) * width + c, v, mask=c < width)


@triton.jit
def _gelu_mul(Out, In, width, TILE: tl.constexpr, PDL: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * TILE + tl.arange(0, TILE)
    if PDL:
        gdc_wait()
    a = tl.load(In + r * 2 * width + c, mask=c < width, other=0.0).to(tl.float32)
    b = tl.load(In + r * 2 * width + width + c, mask=c < width, other=0.0)
    y = 0.5 * a * (1.0 + tl.erf(a * 0.7071067811865476))
    tl.store(Out + r * width + c, y.to(b.dtype) * b, mask=c < width)
    if PDL:
        gdc_launch_dependents()


@triton.jit
def _rotate_halves(Q, Cos, Sin, Pos, q_pitch, HEADS: tl.constexpr, HALF: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    h = tl.arange(0, HEADS)
    d = tl.arange(0, HALF)
    pos = tl.load(Pos + token).to(tl.int64)
    cos = tl.load(Cos + pos * HALF + d)[None, :]
    sin = tl.load(Sin + pos * HALF + d)[None, :]
    at = Q + token * q_pitch + h[:, None] * (2 * HALF) + d[None, :]
    x, y = tl.load(at), tl.load(at + HALF)
    tl.store(at, x * cos - y * sin)
    tl.store(at + HALF, y * cos + x * sin)


@triton.jit
def _scale_fp8_rows(Y, Scale, X, width, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(X + r * width + c, mask=c < width, other=0.0).to(tl.float32)
    top = tl.maximum(tl.max(tl.abs(x), 0), 1e-10)
    scale = top / 448.0
    tl.store(Scale + r, scale)
    tl.store(Y + r * width + c, (x / scale).to(Y.dtype.element_ty), mask=c < width)


@triton.jit
def _gemv_parts(Part, W, X, n_out, n_in, TILE_O: tl.constexpr, TILE_I: tl.constexpr, PARTS: tl.constexpr):
    o = tl.program_id(0) * TILE_O + tl.arange(0, TILE_O)
    part = tl.program_id(1)
    acc = tl.zeros([TILE_O], tl.float32)
    for start in tl.range(part * TILE_I, n_in, TILE_I * PARTS, num_stages=3):
        i = start + tl.arange(0, TILE_I)
        w = tl.load(W + o[:, None].to(tl.int64) * n_in + i[None, :], mask=(o[:, None] < n_out) & (i[None, :] < n_in),
                    other=0.0, cache_modifier=".cg")
        x = tl.load(X + i, mask=i < n_in, other=0.0, eviction_policy="evict_last")
        acc += tl.sum(w.to(tl.float32) * x.to(tl.float32)[None, :], 1)
    tl.store(Part + part * n_out + o, acc, mask=o < n_out)


@triton.jit
def _fold_parts(Out, Part, n_out, TILE: tl.constexpr, PARTS: tl.constexpr):
    o = tl.program_id(0) * TILE + tl.arange(0, TILE)
    acc = tl.zeros([TILE], tl.float32)
    for part in tl.static_range(0, PARTS):
        acc += tl.load(Part + part * n_out + o, mask=o < n_out, other=0.0)
    tl.store(Out + o, acc, mask=o < n_out)


@triton.jit
def _add_everywhere(Out, A, B, n, TILE: tl.constexpr):
    stride = tl.num_programs(0) * TILE
    for base in range(tl.program_id(0) * TILE, n, stride):
        i = base + tl.arange(0, TILE)
        tl.store(Out + i, tl.load(A + i, mask=i < n) + tl.load(B + i, mask=i < n), mask=i < n)


@triton.jit
def _twice_read(Out, X, Y, n, TILE: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    a = tl.exp(tl.load(X + i, mask=i < n, other=0.0)) * tl.load(Y + i, mask=i < n, other=0.0)
    b = tl.exp(tl.load(X + i, mask=i < n, other=0.0)) + 1.0
    tl.store(Out + i, a / b, mask=i < n)


def gather_rows(pool, index):
    out = torch.empty(index.numel(), pool.shape[1], device=pool.device, dtype=pool.dtype)
    grid = (index.numel(), triton.cdiv(pool.shape[1], 256))
    _gather_rows[grid](out, pool, index, pool.stride(0), pool.shape[1], TILE=256)
    return out


def gelu_mul(x, pdl):
    out = torch.empty(x.shape[0], x.shape[1] // 2, device=x.device, dtype=x.dtype)
    grid = (x.shape[0], triton.cdiv(out.shape[1], 1024))
    _gelu_mul[grid](out, x, out.shape[1], TILE=1024, PDL=pdl, launch_pdl=pdl)
    return out


def rotate(q, cos, sin, pos):
    _rotate_halves[(q.shape[0],)](q, cos, sin, pos, q.stride(0), HEADS=q.shape[1], HALF=q.shape[2] // 2)
    return q


def scale_rows(x):
    y = torch.empty(x.shape, device=x.device, dtype=torch.float8_e4m3fn)
    scale = torch.empty(x.shape[0], device=x.device)
    _scale_fp8_rows[(x.shape[0],)](y, scale, x, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y, scale


def gemv(w, x, parts=8):
    part = torch.empty(parts, w.shape[0], device=w.device)
    out = torch.empty(w.shape[0], device=w.device)
    _gemv_parts[(triton.cdiv(w.shape[0], 16), parts)](part, w, x, w.shape[0], w.shape[1], TILE_O=16, TILE_I=128,
                                                      PARTS=parts)
    _fold_parts[(triton.cdiv(w.shape[0], 128),)](out, part, w.shape[0], TILE=128, PARTS=parts)
    return out


def add(a, b):
    out = torch.empty_like(a)
    _add_everywhere[(256,)](out, a, b, a.numel(), TILE=1024)
    return out


def twice(x, y):
    out = torch.empty_like(x)
    _twice_read[(triton.cdiv(x.numel(), 1024),)](out, x, y, x.numel(), TILE=1024)
    return out
