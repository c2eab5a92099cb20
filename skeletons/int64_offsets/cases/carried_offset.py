"""The offset starts as an int32 zero and is set again in the loop: a wider product would change a carried type."""

import triton
import triton.language as tl


@triton.jit
def carried_offset_kernel(x, slots, y, stride, T, D: tl.constexpr):
    o_d = tl.program_id(0) * D + tl.arange(0, D)
    off = 0
    b_y = tl.zeros([D], dtype=tl.float32)
    for t in range(T):
        b_y += tl.load(x + off + o_d)
        off = tl.load(slots + t) * stride
    tl.store(y + o_d, b_y, mask=o_d < stride)
