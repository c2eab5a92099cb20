"""The mask cuts at a length that was loaded: no tile need divide it."""

import triton
import triton.language as tl


@triton.jit
def other_bound_kernel(x, lengths, y, D, BD: tl.constexpr):
    i = tl.program_id(0)
    n = tl.load(lengths + i)
    b_s = tl.zeros([BD], dtype=tl.float32)
    for start in range(0, D, BD):
        o_d = start + tl.arange(0, BD)
        b_s += tl.load(x + i * D + o_d, mask=o_d < n, other=0.0)
    tl.store(y + i, tl.sum(b_s))
