"""The batch size is a constexpr, though the kernel only counts to it: one compilation for each batch."""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["B"])
def batch_constexpr_kernel(x, y, B, T, D: tl.constexpr):
    i_t = tl.program_id(0)
    o_d = tl.arange(0, D)
    b_y = tl.zeros([D], dtype=tl.float32)
    for i_b in range(B):
        b_y += tl.load(x + (i_b * T + i_t) * D + o_d)
    tl.store(y + i_t * D + o_d, b_y, mask=i_t % B < T)


def run(inputs):
    x = inputs["x"]
    B, T, D = x.shape
    y = torch.zeros(T, D)
    batch_constexpr_kernel[(T,)](x, y, B=B, T=T, D=D)
    return y


def make_inputs(seed, device="cpu", B=3):
    generator = torch.Generator(device).manual_seed(seed)
    return {"x": torch.randn(B, 4, 16, generator=generator, device=device)}


WORKLOADS = [{}, {"B": 1}]
