"""The number of rows bounds the mask: 1, and multiples of 16, compile a kernel of their own."""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["T"])
def rows_of_batch_kernel(x, y, T, D: tl.constexpr, BT: tl.constexpr):
    i_t, i_b = tl.program_id(0), tl.program_id(1)
    o_t = i_t * BT + tl.arange(0, BT)
    o_d = tl.arange(0, D)
    mask = (o_t < T)[:, None]
    o_x = (i_b * T + o_t)[:, None] * D + o_d[None, :]
    b_x = tl.load(x + o_x, mask=mask, other=0.0)
    tl.store(y + o_x, b_x * tl.rsqrt(tl.sum(b_x * b_x, 1) / D + 1e-6)[:, None], mask=mask)


def run(inputs):
    x = inputs["x"]
    B, T, D = x.shape
    y = torch.empty_like(x)
    rows_of_batch_kernel[(triton.cdiv(T, 4), B)](x, y, T, D=D, BT=4)
    return y


def make_inputs(seed, device="cpu", T=7):
    generator = torch.Generator(device).manual_seed(seed)
    return {"x": torch.randn(2, T, 16, generator=generator, device=device)}


WORKLOADS = [{}, {"T": 1}, {"T": 16}]
