"""Two tails in one load, a hint that stays, and a mask that no tile proves."""

import torch
import triton
import triton.language as tl


@triton.jit
def two_flags_kernel(x, y, n, R: tl.constexpr, D: tl.constexpr, BR: tl.constexpr, BD: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, BD)
    b_s = tl.zeros([BR, BD], dtype=tl.float32)
    for r in tl.static_range(0, R, BR):
        o_r = tl.arange(0, BR) + r

        if R % BR == 0 and D >= BD:
            b_x = tl.load(x + i * R * D + o_r[:, None] * D + o_d[None, :], eviction_policy="evict_first")
        else:
            b_x = tl.load(
                x + i * R * D + o_r[:, None] * D + o_d[None, :],
                mask=(R > o_r)[:, None] & (o_d < D)[None, :],  # both tails
                other=0.0,
                eviction_policy="evict_first",
            )
        b_s += b_x * tl.load(x + o_d, mask=o_d < n, other=0.0)[None, :]
    tl.store(y + i, tl.sum(b_s))


def run(inputs):
    x = inputs["x"]
    N, R, D = x.shape
    y = torch.empty(2, N)
    two_flags_kernel[(N,)](x, y[0], D, R=R, D=D, BR=4, BD=16)
    two_flags_kernel[(N,)](x, y[1], D, R=R, D=D, BR=2, BD=8)
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {"x": torch.randn(2, 6, 8, generator=generator, device=device)}


WORKLOADS = [{}]
