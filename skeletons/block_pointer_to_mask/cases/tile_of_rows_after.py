"""Tiles of rows and columns, read in one order of dimensions and written transposed."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_of_rows_kernel(x, g, y, T, D, BT: tl.constexpr, BD: tl.constexpr):
    i_t, i_d, i_b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    o_x_0 = (i_t * BT) + tl.arange(0, BT).to(tl.int64)
    o_x_1 = (i_d * BD) + tl.arange(0, BD).to(tl.int64)
    p_x = (x + i_b * T * D) + o_x_0[:, None] * D + o_x_1[None, :]
    m_x = (o_x_0[:, None] < T) & (o_x_1[None, :] < D)
    o_g = (i_t * BT) + tl.arange(0, BT).to(tl.int64)
    p_g = (g + i_b * T) + o_g
    m_g = o_g < T
    o_y_0 = (i_d * BD) + tl.arange(0, BD).to(tl.int64)
    o_y_1 = (i_t * BT) + tl.arange(0, BT).to(tl.int64)
    p_y = (y + i_b * T * D) + o_y_0[:, None] * T + o_y_1[None, :]
    m_y = (o_y_0[:, None] < D) & (o_y_1[None, :] < T)  # transposed
    b_x = tl.load(p_x, mask=m_x, other=0).to(tl.float32)
    b_g = tl.load(p_g, mask=m_g, other=0)
    b_y = tl.trans(b_x * b_g[:, None])
    tl.store(p_y, b_y.to(p_y.dtype.element_ty), mask=m_y)


def run(inputs):
    x = inputs["x"]
    B, T, D = x.shape
    y = torch.zeros(B, D, T)
    tile_of_rows_kernel[(triton.cdiv(T, 16), triton.cdiv(D, 16), B)](x, inputs["g"], y, T, D, BT=16, BD=16)
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {
        "x": torch.randn(2, 21, 19, generator=generator, device=device),
        "g": torch.randn(2, 21, generator=generator, device=device),
    }


WORKLOADS = [{}]
