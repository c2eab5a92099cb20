"""Warps are tried from a list that a comprehension walks; the width of a row is no part of the key."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BT": BT}, num_warps=num_warps, num_stages=2)
        for BT in [2, 4]
        for num_warps in [2, 4, 8]
    ],
    key=["T", "D", "BD"],
)
@triton.jit
def norm_rows_kernel(x, y, T, D: tl.constexpr, BD: tl.constexpr, BT: tl.constexpr):
    o_t = tl.program_id(0) * BT + tl.arange(0, BT)
    o_d = tl.arange(0, BD)
    m = (o_t < T)[:, None] & (o_d < D)[None, :]
    b_x = tl.load(x + o_t[:, None] * D + o_d[None, :], mask=m, other=0)
    b_r = tl.rsqrt(tl.sum(b_x * b_x, 1) / D + 1e-6)
    tl.store(y + o_t[:, None] * D + o_d[None, :], b_x * b_r[:, None], mask=m)


def run(inputs):
    x = inputs["x"]
    T, D = x.shape
    y = torch.empty_like(x)
    norm_rows_kernel[lambda meta: (triton.cdiv(T, meta["BT"]),)](x, y, T, D=D, BD=triton.next_power_of_2(D))
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {"x": torch.randn(7, 20, generator=generator, device=device)}


WORKLOADS = [{}]
