"""A masked load over several lines, one with a cache modifier, one in place, one read by two rounds alike."""

import torch
import triton
import triton.language as tl


@triton.jit
def mixed_loads_kernel(x, g, state, y, N, D: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, D)
    b_x = tl.load(
        x + i * D + o_d,
        mask=o_d < D - 1,
        other=0.0,  # the last lane is padding
        eviction_policy="evict_first",
    )
    b_g = tl.load(g + i * D + o_d, cache_modifier=".cg")
    b_h = tl.load(state + i * D + o_d)
    for n in range(N):
        b_h = b_h * b_g + b_x + n
    tl.store(state + i * D + o_d, b_h)
    tl.store(y + i * D + o_d, b_h)


def run(inputs):
    x, y, state = inputs["x"], torch.empty_like(inputs["x"]), inputs["state"]
    mixed_loads_kernel[(x.shape[0],)](x, inputs["g"], state, y, 3, D=x.shape[1])
    return y, state


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    x, g, state = torch.randn(3, 4, 32, generator=generator, device=device)
    return {"x": x, "g": g, "state": state.contiguous()}


WORKLOADS = [{}]
