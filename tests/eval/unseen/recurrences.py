"""State updates: a delta rule by tiles, a decode that keeps its slot's state, a plain scan, a gate made beforehand."""

import torch
import triton
import triton.language as tl
import triton.language.extra.libdevice as fast


@triton.jit
def unit(v):
    return v / tl.sqrt(tl.sum(v * v) + 1e-6)


@triton.jit(do_not_specialize=["steps"])
def _delta_steps(
    K, V, Beta, Out, Begin, End, steps, H: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr, TILE: tl.constexpr,
    PAD: tl.constexpr, HAS_BEGIN: tl.constexpr,
):
    tile, row = tl.program_id(0), tl.program_id(1)
    b, h = row // H, row % H
    i = tl.arange(0, PAD)
    j = tile * TILE + tl.arange(0, TILE)
    at_k = K + (b * steps * H + h) * DK + i
    at_v = V + (b * steps * H + h) * DV + j
    at_o = Out + (b * steps * H + h) * DV + j
    at_b = Beta + b * steps * H + h
    state = tl.zeros([PAD, TILE], dtype=tl.float32)
    if HAS_BEGIN:
        at = Begin + row.to(tl.int64) * DK * DV + i[:, None] * DV + j[None, :]
        state += tl.load(at, mask=(i[:, None] < DK) & (j[None, :] < DV), other=0.0)
    for _ in range(0, steps):
        k = unit(tl.load(at_k, mask=i < DK, other=0.0).to(tl.float32))
        v = tl.load(at_v, mask=j < DV, other=0.0).to(tl.float32)
        gain = tl.sigmoid(tl.load(at_b).to(tl.float32))
        v = (v - tl.sum(state * k[:, None], 0)) * gain
        state += k[:, None] * v[None, :]
        tl.store(at_o, tl.sum(state * k[:, None], 0), mask=j < DV)
        at_k += H * DK
        at_v += H * DV
        at_o += H * DV
        at_b += H
    at = End + row.to(tl.int64) * DK * DV + i[:, None] * DV + j[None, :]
    tl.store(at, state, mask=(i[:, None] < DK) & (j[None, :] < DV))


@triton.jit
def _slot_decode(
    Q, K, V, Decay, State, Slot, Out, H: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr, TILE: tl.constexpr
):
    row, tile = tl.program_id(0), tl.program_id(1)
    b, h = row // H, row % H
    slot = tl.load(Slot + b).to(tl.int64)
    if slot < 0:
        return
    i = tl.arange(0, DK)
    j = tile * TILE + tl.arange(0, TILE)
    q = tl.load(Q + row * DK + i).to(tl.float32)
    k = tl.load(K + row * DK + i).to(tl.float32)
    q = q * tl.rsqrt(tl.sum(q * q) + 1e-6)
    k = k * tl.rsqrt(tl.sum(k * k) + 1e-6)
    fade = tl.exp(tl.load(Decay + row).to(tl.float32))
    at = State + (slot * H + h) * DK * DV + i[:, None] * DV + j[None, :]
    state = tl.load(at, mask=j[None, :] < DV, other=0.0) * fade
    v = tl.load(V + row * DV + j, mask=j < DV, other=0.0).to(tl.float32)
    state += k[:, None] * v[None, :]
    tl.store(at, state, mask=j[None, :] < DV)
    tl.store(Out + row * DV + j, tl.sum(state * q[:, None], 0), mask=j < DV)


@triton.jit
def _softplus_gate(G, A, Bias, Y, n_tokens, H: tl.constexpr, D: tl.constexpr, TILE_T: tl.constexpr):
    t, h = tl.program_id(0), tl.program_id(1)
    rows = t * TILE_T + tl.arange(0, TILE_T)
    d = tl.arange(0, D)
    at = rows[:, None].to(tl.int64) * H * D + h * D + d[None, :]
    inside = rows[:, None] < n_tokens
    g = tl.load(G + at, mask=inside, other=0.0).to(tl.float32) + tl.load(Bias + h * D + d)[None, :]
    g = tl.where(g > 20.0, g, fast.log1p(tl.exp(g)))
    tl.store(Y + at, -tl.exp(tl.load(A + h).to(tl.float32)) * g, mask=inside)


@triton.jit
def _gated_scan(X, Y, Out, n_steps, width, T_MAX: tl.constexpr, TILE: tl.constexpr):
    tile, b = tl.program_id(0), tl.program_id(1).to(tl.int64)
    c = tile * TILE + tl.arange(0, TILE)
    acc = tl.zeros([TILE], tl.float32)
    for t in range(0, T_MAX):
        at = (b * T_MAX + t) * width + c
        x = tl.load(X + at, mask=c < width, other=0.0).to(tl.float32)
        y = tl.load(Y + at, mask=c < width, other=0.0).to(tl.float32)
        acc = acc * x + y
        tl.store(Out + at, acc, mask=c < width)


def delta(k, v, beta, begin):
    B, T, H, DK = k.shape
    DV = v.shape[-1]
    out, end = torch.empty_like(v), torch.empty(B, H, DK, DV, device=k.device)
    TILE = min(triton.next_power_of_2(DV), 8)
    _delta_steps[(triton.cdiv(DV, TILE), B * H)](k, v, beta, out, begin, end, T, H, DK, DV, TILE=TILE,
                                                 PAD=triton.next_power_of_2(DK), HAS_BEGIN=begin is not None)
    return out, end


def decode(q, k, v, decay, state, slot):
    B, H, DK = q.shape
    DV = v.shape[-1]
    out = torch.empty_like(v)
    _slot_decode[(B * H, triton.cdiv(DV, 32))](q, k, v, decay, state, slot, out, H, DK, DV, TILE=32, num_warps=1)
    return out


def gated_scan(g, a, bias, y):
    T, H, D = g.shape
    x, out = torch.empty_like(g), torch.empty_like(y)
    _softplus_gate[(triton.cdiv(T, 32), H)](g, a, bias, x, T, H, D, TILE_T=32)
    _gated_scan[(triton.cdiv(H * D, 128), 1)](x, y, out, T, H * D, T_MAX=T, TILE=128)
    return out
