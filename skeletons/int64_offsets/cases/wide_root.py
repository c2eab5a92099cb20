"""The id is int64 where it is read, and what follows from it is too."""

import triton
import triton.language as tl


@triton.jit
def wide_root_kernel(x, y, stride, D: tl.constexpr):
    i_n = tl.program_id(0).to(tl.int64)
    o_d = tl.arange(0, D)
    p = i_n * stride
    tl.store(y + p + o_d, tl.load(x + p + o_d))
