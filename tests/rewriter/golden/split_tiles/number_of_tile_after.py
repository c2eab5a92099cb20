"""A tile written as a number, and a grid that is a name."""

import torch
import triton
import triton.language as tl


@triton.jit
def number_of_tile_kernel(x, y, N, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + o, tl.exp(tl.load(x + o, mask=o < N, other=0.0)), mask=o < N)


def run(inputs):
    x = inputs["x"]
    N = x.numel()
    y = torch.empty_like(x)
    BLOCK = 16
    grid = (triton.cdiv(N, BLOCK),)
    number_of_tile_kernel[grid](x, y, N, BLOCK=BLOCK)
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {"x": torch.randn(99, generator=generator, device=device)}


WORKLOADS = [{}]
