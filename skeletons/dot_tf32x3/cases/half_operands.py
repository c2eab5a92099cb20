"""Half-precision operands: no TF32 is involved."""

import triton
import triton.language as tl


@triton.jit
def half_operands_kernel(a, h, T, D: tl.constexpr):
    o_d = tl.arange(0, D)
    p_dd = tl.program_id(0).to(tl.int64) * D * D + o_d[:, None] * D + o_d[None, :]
    b_h = tl.zeros([D, D], dtype=tl.float32)
    for t in range(T):
        b_a = tl.load(a + t * D * D + p_dd).to(tl.bfloat16)
        b_h += tl.dot(b_a, b_a)
    tl.store(h + p_dd, b_h)
