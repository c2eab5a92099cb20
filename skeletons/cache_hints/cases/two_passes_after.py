"""A row is walked twice, for its sum of squares and to scale it: the first pass keeps it, the second lets it go."""

import torch
import triton
import triton.language as tl


@triton.jit
def two_passes_kernel(x, w, y, D, B: tl.constexpr):
    i = tl.program_id(0)
    o = tl.arange(0, B)
    b_s = tl.zeros([B], dtype=tl.float32)
    for start in range(0, D, B):
        b_x = tl.load(x + i * D + start + o, mask=start + o < D, other=0.0, eviction_policy="evict_last")
        b_s += b_x * b_x
    scale = tl.rsqrt(tl.sum(b_s) / D + 1e-6)
    for start in range(0, D, B):
        mask = start + o < D
        b_x = tl.load(x + i * D + start + o, mask=mask, other=0.0, eviction_policy="evict_first")
        b_w = tl.load(w + start + o, mask=mask, other=0.0)
        tl.store(y + i * D + start + o, b_x * scale * b_w, mask=mask)


def run(inputs):
    x = inputs["x"]
    y = torch.empty_like(x)
    two_passes_kernel[(x.shape[0],)](x, inputs["w"], y, x.shape[1], B=32)
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {"x": torch.randn(3, 70, generator=generator, device=device), "w": torch.randn(70, generator=generator)}


WORKLOADS = [{}]
