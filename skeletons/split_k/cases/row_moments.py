"""Mean and variance of long rows: two sums in one loop, one program a row, and few rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_moments_kernel(x, mean, rstd, N, H, eps, BN: tl.constexpr):
    """Statistics of a layer norm."""
    row = tl.program_id(1) * H + tl.program_id(0)
    total = 0.0
    squares = tl.full([BN], 0, tl.float32)
    o_n = tl.arange(0, BN)
    for start in tl.range(0, N, BN, num_stages=2):
        b_x = tl.load(x + row * N + start + o_n, mask=start + o_n < N, other=0.0)
        total += tl.sum(b_x, 0)
        squares = squares + b_x * b_x
    b_mean = total / N
    b_rstd = tl.rsqrt(tl.sum(squares, 0) / N - b_mean * b_mean + eps)
    tl.store(mean + row, b_mean)
    tl.store(rstd + row, b_rstd)


def run(inputs):
    x = inputs["x"]
    B, H, N = x.shape
    mean, rstd = torch.empty(B, H, device=x.device), torch.empty(B, H, device=x.device)
    grid = lambda meta: (H, B)
    row_moments_kernel[grid](x, mean, rstd, N, H, 1e-5, BN=8, num_warps=1)
    return mean, rstd


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {"x": torch.randn(2, 3, 93, generator=generator, device=device)}


WORKLOADS = [{}]
