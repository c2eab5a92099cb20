"""A block pointer that walks along the reduced dimension, and one that starts before the first row."""

import torch
import triton
import triton.language as tl


@triton.jit
def advanced_in_loop_kernel(x, y, T, D, SHIFT, BT: tl.constexpr, BD: tl.constexpr):
    i_t = tl.program_id(0)
    o_x_0 = (i_t * BT - SHIFT) + tl.arange(0, BT).to(tl.int64)
    o_x_1 = tl.arange(0, BD).to(tl.int64)
    p_x = x + o_x_0[:, None] * D + o_x_1[None, :]
    m_x = (o_x_0[:, None] >= 0) & (o_x_0[:, None] < T) & (o_x_1[None, :] < D)
    o_y = (i_t * BT) + tl.arange(0, BT).to(tl.int64)
    p_y = y + o_y
    m_y = o_y < T
    b_y = tl.zeros([BT], dtype=tl.float32)
    for i_d in range(tl.cdiv(D, BD)):
        b_y += tl.sum(tl.load(p_x, mask=m_x, other=0), 1) * (i_d + 1)
        o_x_1 += BD
        p_x = x + o_x_0[:, None] * D + o_x_1[None, :]
        m_x = (o_x_0[:, None] >= 0) & (o_x_0[:, None] < T) & (o_x_1[None, :] >= 0) & (o_x_1[None, :] < D)
    tl.store(p_y, b_y, mask=m_y)


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
