"""Divisions of several kinds, over several lines; 分母 in a comment, so that bytes and characters differ."""

import torch
import triton
import triton.language as tl


@triton.jit
def mixed_divisions_kernel(x, norm, y, z, w, eps, D: tl.constexpr, M: tl.constexpr):
    i = tl.program_id(0)
    o_m, o_d = tl.arange(0, M), tl.arange(0, D)
    p = i * M * D + o_m[:, None] * D + o_d[None, :]
    b_x = tl.load(x + p).to(tl.float32)
    b_n = tl.sqrt(tl.sum(b_x * b_x, axis=1) + eps)  # 分母, kept: it is stored
    tl.store(norm + i * M + o_m, b_n)
    tl.store(y + p, b_x / b_n[:, None])
    b_r = 1.0 / (
        tl.sqrt(tl.sum(b_x * b_x) / D + eps)
    )
    b_z = b_x * b_r
    b_z /= (1.0 + tl.exp(-tl.abs(tl.sum(b_x, axis=1))))[:, None]  # between 1 and 2
    tl.store(z + p, b_z / 7.0)
    b_max = tl.max(b_x)
    b_e = tl.exp(b_x - b_max)
    tl.store(w + p, b_e / tl.sum(b_e) + b_x / tl.maximum(tl.sqrt(tl.sum(b_x, axis=1)), 1e-12)[:, None] * 0.0)


def run(inputs):
    x = inputs["x"]
    N, M, D = x.shape
    norm, (y, z, w) = torch.empty(N, M), (torch.empty_like(x) for _ in range(3))
    mixed_divisions_kernel[(N,)](x, norm, y, z, w, 1e-6, D=D, M=M)
    return norm, y, z, w


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {"x": torch.rand(2, 4, 16, generator=generator, device=device) + 0.1}


WORKLOADS = [{}]
