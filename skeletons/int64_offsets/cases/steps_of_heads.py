"""Ids taken apart, a time loop, and a pointer that a loop carries."""

import torch
import triton
import triton.language as tl


@triton.jit
def steps_of_heads_kernel(x, y, T, stride_b, stride_h, H: tl.constexpr, D: tl.constexpr):
    i_bh = tl.program_id(0)
    i_b, i_h = i_bh // H, i_bh % H
    o_d = tl.arange(0, D)
    p_x = x + i_b * stride_b + i_h * stride_h + o_d
    b_h = tl.zeros([D], dtype=tl.float32)
    for t in range(T):
        b_h = 0.5 * b_h + tl.load(p_x)
        tl.store(y + i_b * stride_b + i_h * stride_h + t * D + o_d, b_h)
        p_x += D


def run(inputs):
    x = inputs["x"]
    B, H, T, D = x.shape
    y = torch.empty_like(x)
    steps_of_heads_kernel[(B * H,)](x, y, T, x.stride(0), x.stride(1), H=H, D=D)
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {"x": torch.randn(2, 3, 4, 16, generator=generator, device=device)}


WORKLOADS = [{}]
