"""The two loads stand in the arms of a run-time branch: only one of them runs."""

import triton
import triton.language as tl


@triton.jit
def either_kernel(x, y, n, D: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, D)
    if i < n:
        tl.store(y + i * D + o_d, tl.load(x + i * D + o_d) * 2.0)
    else:
        tl.store(y + i * D + o_d, tl.load(x + i * D + o_d) * 3.0)
