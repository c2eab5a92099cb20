"""A decorator with options, a length passed as numel, and a dimension that stays specialised."""

import torch
import triton
import triton.language as tl


@triton.jit(debug=False)
def with_options_kernel(
    x,
    y,
    n,
    stride,
    BLOCK: tl.constexpr,
):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    b_x = tl.load(x + o * stride, mask=o < n, other=0.0)
    tl.store(y + o, b_x * 2.0, mask=o < n)


def run(inputs):
    x = inputs["x"]
    y = torch.empty_like(x)
    with_options_kernel[(triton.cdiv(x.numel(), 16),)](x, y, x.numel(), x.stride(0), BLOCK=16)
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {"x": torch.randn(37, generator=generator, device=device)}


WORKLOADS = [{}]
