"""The load keeps the pointer's type, which need not be that of the zeros: the sum's type would change."""

import triton
import triton.language as tl


@triton.jit
def other_type_kernel(x, h0, y, T, D: tl.constexpr):
    o_d = tl.arange(0, D)
    i = tl.program_id(0)
    b_h = tl.zeros([D], dtype=tl.float32)
    b_h += tl.load(h0 + i * D + o_d)
    for t in range(T):
        b_h = b_h * 0.5 + tl.load(x + (i * T + t) * D + o_d)
    tl.store(y + i * D + o_d, b_h)
