"""The value is read again after a store, which may have changed it."""

import triton
import triton.language as tl


@triton.jit
def normalise_kernel(x, y, D: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, D)
    b_x = tl.load(x + i * D + o_d)
    tl.store(y + i * D + o_d, b_x / tl.sum(b_x))
    b_r = tl.load(x + i * D + o_d)
    tl.store(y + (i + 1) * D + o_d, b_r)
