"""Batch and heads on the second axis of the grid: more than 65,535 of them cannot be launched."""

import torch
import triton
import triton.language as tl


@triton.jit
def state_rows_kernel(x, y, scale, H, V: tl.constexpr, BV: tl.constexpr, grid_0):
    """y = x * scale of the head."""
    i_program = tl.program_id(0)
    i_v, i_bh = i_program % grid_0, i_program // grid_0
    i_h = i_bh % H
    o_v = i_v * BV + tl.arange(0, BV)
    b_s = tl.load(scale + i_h)
    b_x = tl.load(x + i_bh.to(tl.int64) * V + o_v, mask=o_v < V, other=0)
    tl.store(y + i_bh.to(tl.int64) * V + o_v, b_x * b_s, mask=o_v < V)


def run(inputs):
    x, scale = inputs["x"], inputs["scale"]
    B, H, V = x.shape
    y = torch.empty_like(x)
    NV = triton.cdiv(V, 8)
    grid = (NV * (B * H),)
    state_rows_kernel[grid](x, y, scale, H, V=V, BV=8, grid_0=NV)
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {
        "x": torch.randn(3, 2, 20, generator=generator, device=device),
        "scale": torch.rand(2, generator=generator, device=device) + 0.5,
    }


WORKLOADS = [{}]
