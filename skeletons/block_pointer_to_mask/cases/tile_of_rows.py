"""Tiles of rows and columns, read in one order of dimensions and written transposed."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_of_rows_kernel(x, g, y, T, D, BT: tl.constexpr, BD: tl.constexpr):
    i_t, i_d, i_b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    p_x = tl.make_block_ptr(x + i_b * T * D, (T, D), (D, 1), (i_t * BT, i_d * BD), (BT, BD), (1, 0))
    p_g = tl.make_block_ptr(g + i_b * T, (T,), (1,), (i_t * BT,), (BT,), (0,))
    p_y = tl.make_block_ptr(
        base=y + i_b * T * D,
        shape=(D, T),
        strides=(T, 1),
        offsets=(i_d * BD, i_t * BT),
        block_shape=(BD, BT),
        order=(1, 0),
    )  # transposed
    b_x = tl.load(p_x, boundary_check=(0, 1)).to(tl.float32)
    b_g = tl.load(p_g, boundary_check=(0,), padding_option="zero")
    b_y = tl.trans(b_x * b_g[:, None])
    tl.store(p_y, b_y.to(p_y.dtype.element_ty), boundary_check=(0, 1))


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
