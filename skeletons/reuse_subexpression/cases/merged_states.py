"""Two partial results merged by their log-sum-exp: each weight is evaluated twice, and a load is repeated."""

import torch
import triton
import triton.language as tl


@triton.jit
def merge_kernel(a, b, lse_a, lse_b, out, lse, D: tl.constexpr, WRITE_LSE: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, D)
    l_a = tl.load(lse_a + i)
    l_b = tl.load(lse_b + i)
    top = tl.maximum(l_a, l_b)
    total = tl.exp(l_a - top) + tl.exp(l_b - top)
    b_a = tl.load(a + i * D + o_d)
    b_o = b_a * (tl.exp(l_a - top) / total) + tl.load(b + i * D + o_d) * (tl.exp(l_b - top) / total)
    if WRITE_LSE:
        b_o += 0.5 * tl.load(a + i * D + o_d)
        tl.store(lse + i, tl.log(total) + top)
    tl.store(out + i * D + o_d, b_o)


def run(inputs):
    a, b = inputs["a"], inputs["b"]
    out, lse = torch.empty_like(a), torch.empty_like(inputs["lse_a"])
    merge_kernel[(a.shape[0],)](a, b, inputs["lse_a"], inputs["lse_b"], out, lse, D=a.shape[1], WRITE_LSE=True)
    return out, lse


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    a, b = torch.randn(2, 5, 16, generator=generator, device=device)
    lse_a, lse_b = torch.randn(2, 5, generator=generator, device=device)
    return {"a": a, "b": b, "lse_a": lse_a, "lse_b": lse_b}


WORKLOADS = [{}]
