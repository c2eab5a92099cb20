"""Two states over several lines, one of them used before its loop."""

import torch
import triton
import triton.language as tl


@triton.jit
def two_states_kernel(x, h0, y, T, D: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, D)
    b_1 = tl.zeros([D], dtype=tl.float32)
    b_2 = tl.zeros([D], dtype=tl.float32)
    b_1 = tl.load(
        h0 + i * D + o_d,
        mask=o_d < D,
        other=0.0,
    ).to(tl.float32)
    b_2 = tl.load(h0 + i * D + o_d).to(tl.float32)
    tl.store(y + (i * 2 + 1) * D + o_d, b_2)
    for t in range(1, T):
        b_x = tl.load(x + (i * T + t) * D + o_d)
        b_1 = b_1 * 0.5 + b_x
        b_2 = b_2 * 0.25 + b_x
    tl.store(y + i * 2 * D + o_d, b_1 + b_2)


def run(inputs):
    x, h0 = inputs["x"], inputs["h0"]
    y = torch.empty(2 * x.shape[0], x.shape[2])
    two_states_kernel[(x.shape[0],)](x, h0, y, x.shape[1], D=x.shape[2])
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {
        "x": torch.randn(3, 4, 16, generator=generator, device=device),
        "h0": torch.randn(3, 16, generator=generator, device=device),
    }


WORKLOADS = [{}]
