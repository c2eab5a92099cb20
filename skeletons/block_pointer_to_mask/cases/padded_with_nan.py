"""What lies outside is NaN."""

import triton
import triton.language as tl


@triton.jit
def padded_with_nan_kernel(x, y, T, BT: tl.constexpr):
    i_t = tl.program_id(0)
    p_x = tl.make_block_ptr(x, (T,), (1,), (i_t * BT,), (BT,), (0,))
    b_x = tl.load(p_x, boundary_check=(0,), padding_option="nan")
    tl.store(y + i_t, tl.sum(tl.where(b_x == b_x, b_x, 0.0)))
