"""One loop of two takes stages: the other has them; a third only holds a loop."""

import torch
import triton
import triton.language as tl


@triton.jit
def two_loops_kernel(x, y, N, R, B: tl.constexpr):
    o = tl.program_id(0) + tl.arange(0, B)
    b_m = tl.full([B], -1e30, dtype=tl.float32)
    for r in range(R):
        for start in tl.range(
            0,
            N,
            B,  # a block a round
            num_stages=2,
        ):
            b_m = tl.maximum(b_m, tl.load(x + r * N + start + o, mask=start + o < N, other=-1e30))
    top = tl.max(b_m)
    b_s = tl.zeros([B], dtype=tl.float32)
    for start in tl.range(0, N, B, num_stages=3):
        b_s += tl.exp(tl.load(x + start + o, mask=start + o < N, other=-1e30) - top)
    tl.store(y, tl.sum(b_s) + top)


def run(inputs):
    x = inputs["x"]
    y = torch.empty(1)
    two_loops_kernel[(1,)](x, y, x.shape[1], x.shape[0], B=32)
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {"x": torch.randn(3, 100, generator=generator, device=device)}


WORKLOADS = [{}]
