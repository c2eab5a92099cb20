"""A block pointer that walks along the reduced dimension, and one that starts before the first row."""

import torch
import triton
import triton.language as tl


@triton.jit
def advanced_in_loop_kernel(x, y, T, D, SHIFT, BT: tl.constexpr, BD: tl.constexpr):
    i_t = tl.program_id(0)
    p_x = tl.make_block_ptr(x, (T, D), (D, 1), (i_t * BT - SHIFT, 0), (BT, BD), (1, 0))
    p_y = tl.make_block_ptr(y, (T,), (1,), (i_t * BT,), (BT,), (0,))
    b_y = tl.zeros([BT], dtype=tl.float32)
    for i_d in range(tl.cdiv(D, BD)):
        b_y += tl.sum(tl.load(p_x, boundary_check=(0, 1)), 1) * (i_d + 1)
        p_x = tl.advance(p_x, (0, BD))
    tl.store(p_y, b_y, boundary_check=(0,))


def run(inputs):
    x = inputs["x"]
    T, D = x.shape
    y = torch.zeros(T)
    advanced_in_loop_kernel[(triton.cdiv(T, 16),)](x, y, T, D, 3, BT=16, BD=16)
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {"x": torch.randn(21, 37, generator=generator, device=device)}


WORKLOADS = [{}]
