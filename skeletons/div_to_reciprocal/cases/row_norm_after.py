"""Rows divided by their norm, which is only ever a divisor; a helper spells the root."""

import torch
import triton
import triton.language as tl


@triton.jit
def root(x):
    return tl.sqrt(x.to(tl.float32))


@triton.jit
def row_norm_kernel(x, y, M, eps, D: tl.constexpr, BM: tl.constexpr, BD: tl.constexpr):
    o_m = tl.program_id(0) * BM + tl.arange(0, BM)
    o_d = tl.arange(0, BD)
    mask = (o_m < M)[:, None] & (o_d < D)[None, :]
    b_x = tl.load(x + o_m[:, None] * D + o_d[None, :], mask=mask, other=0.0).to(tl.float32)
    inv_b_n = tl.rsqrt(tl.sum(b_x * b_x, axis=1) + eps)  # one norm a row
    b_x = b_x * inv_b_n[:, None]
    tl.store(y + o_m[:, None] * D + o_d[None, :], b_x, mask=mask)


def run(inputs):
    x = inputs["x"]
    y = torch.empty_like(x)
    row_norm_kernel[(triton.cdiv(x.shape[0], 4),)](x, y, x.shape[0], 1e-6, D=x.shape[1], BM=4, BD=64)
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {"x": torch.randn(10, 40, generator=generator, device=device)}


WORKLOADS = [{}]
