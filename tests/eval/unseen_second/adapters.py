"""Low-rank adapters: one program shrinks a block of tokens and then walks the output's tiles."""

import torch
import triton
import triton.language as tl


def _small_enough(configs, args, **meta):
    return [c for c in configs if c.kwargs["BN"] * meta["RANK"] <= 16384]


@triton.autotune(configs=[triton.Config({"BN": bn}, num_warps=w, num_stages=1) for bn in (64, 128, 256) for w in (4, 8)],
                 key=["N", "HID"], prune_configs_by={"early_config_prune": _small_enough})
@triton.jit
def lora_whole(x, down, up, y, rows, N, HID: tl.constexpr, RANK: tl.constexpr, scale,
               BM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr):
    m = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    live = (m < rows)[:, None]
    k = tl.max_contiguous(tl.multiple_of(tl.arange(0, BK), BK), BK)
    r = tl.arange(0, RANK)
    h = tl.zeros((BM, RANK), dtype=tl.float32)
    for k0 in range(0, HID, BK):
        a = tl.load(x + m[:, None] * HID + (k0 + k)[None, :], mask=live, other=0.0)
        b = tl.load(down + r[None, :] * HID + (k0 + k)[:, None])
        h += tl.dot(a, b)
    h = (h * scale).to(up.dtype.element_ty)
    for n0 in range(0, N, BN):
        n = n0 + tl.arange(0, BN)
        w = tl.load(up + n[None, :] * RANK + r[:, None], mask=(n < N)[None, :], other=0.0)
        at = y + m[:, None] * N + n[None, :]
        ok = live & (n < N)[None, :]
        old = tl.load(at, mask=ok, other=0.0)
        tl.store(at, (old + tl.dot(h, w)).to(y.dtype.element_ty), mask=ok)


def add_lora_(y, x, down, up, scale):
    rows, hid = x.shape
    lora_whole[(triton.cdiv(rows, 32),)](x, down, up, y, rows, y.shape[1], hid, down.shape[0], scale, BM=32, BK=64)
    return y
