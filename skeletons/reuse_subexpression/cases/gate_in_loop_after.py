"""A gate loaded and exponentiated before a loop, and again in every round of it under the same flag."""

import torch
import triton
import triton.language as tl


@triton.jit
def gate_kernel(x, g, y, z, T, USE_GATE: tl.constexpr, D: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, D)
    b_h = tl.zeros([D], dtype=tl.float32)
    if USE_GATE:
        b_exp = tl.exp(tl.load(g + i * D + o_d).to(tl.float32))
        b_h += b_exp
    for t in range(T):
        b_x_2 = tl.load(x + (i * T + t) * D + o_d)
        b_x = b_x_2
        if USE_GATE:
            b_x = b_x * b_exp
        b_h += b_x * b_x_2
    tl.store(y + i * D + o_d, b_h)
    tl.store(z + i, tl.sum(b_h))


def run(inputs):
    x, g = inputs["x"], inputs["g"]
    N, T, D = x.shape
    y, z = torch.empty_like(g), torch.empty(N)
    gate_kernel[(N,)](x, g, y, z, T, USE_GATE=True, D=D)
    return y, z


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {
        "x": torch.randn(3, 4, 16, generator=generator, device=device),
        "g": torch.randn(3, 16, generator=generator, device=device),
    }


WORKLOADS = [{}]
