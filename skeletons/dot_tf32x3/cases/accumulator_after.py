"""An accumulator in fp32 over blocks of both operands, with one product that is only stored."""

import torch
import triton
import triton.language as tl


@triton.jit
def accumulator_kernel(a, b, c, d, T, D: tl.constexpr, DOT_PRECISION: tl.constexpr = "tf32x3"):
    o_d = tl.arange(0, D)
    p_dd = tl.program_id(0).to(tl.int64) * D * D + o_d[:, None] * D + o_d[None, :]
    b_c = tl.zeros([D, D], dtype=tl.float32)
    for t in range(T):
        b_a = tl.load(a + t * D * D + p_dd).to(tl.float32)
        b_b = tl.load(b + t * D * D + p_dd).to(tl.float32)
        b_c += tl.dot(
            b_a,
            tl.trans(b_b),  # the second operand is stored by rows
            input_precision=DOT_PRECISION,
        )
        tl.store(d + t * D * D + p_dd, tl.dot(b_a, b_b))
    tl.store(c + p_dd, b_c)


def run(inputs):
    a, b = inputs["a"], inputs["b"]
    c, d = torch.empty_like(a[0]), torch.empty_like(a)
    accumulator_kernel[(1,)](a, b, c, d, a.shape[0], D=a.shape[1])
    return c, d


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    a, b = torch.randn(2, 3, 16, 16, generator=generator, device=device)
    return {"a": a, "b": b}


WORKLOADS = [{}]
