"""Nothing scales these scores, and each is exponentiated once: the factor would cost what it saves."""

import triton
import triton.language as tl


@triton.jit
def plain_softmax_kernel(x, y, D: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, D)
    b_x = tl.load(x + i * D + o_d).to(tl.float32)
    b_e = tl.exp(b_x - tl.max(b_x, 0))
    tl.store(y + i * D + o_d, b_e / tl.sum(b_e, 0))
