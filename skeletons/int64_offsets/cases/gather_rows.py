"""Rows gathered from a pool by a loaded slot number; the pool's row stride is given at run time."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_rows_kernel(pool, slots, out, stride, N, D: tl.constexpr):
    i_n = tl.program_id(0)  # one row a program
    o_d = tl.arange(0, D)
    slot = tl.load(slots + i_n)
    if slot < 0:
        return
    b_x = tl.load(pool + slot * stride + o_d)
    tl.store(out + i_n * D + o_d, b_x, mask=i_n < N)


def run(inputs):
    pool, slots = inputs["pool"], inputs["slots"]
    out = torch.zeros(slots.shape[0], pool.shape[1], device=pool.device)
    gather_rows_kernel[(slots.shape[0],)](pool, slots, out, pool.stride(0), slots.shape[0], D=pool.shape[1])
    return out


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    pool = torch.randn(9, 16, generator=generator, device=device)
    return {"pool": pool, "slots": torch.tensor([3, -1, 8, 0], dtype=torch.int32, device=device)}


WORKLOADS = [{}]
