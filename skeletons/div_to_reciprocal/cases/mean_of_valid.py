"""The number of valid entries may be zero, and then the mean is not a number: not provable, so not touched."""

import triton
import triton.language as tl


@triton.jit
def mean_of_valid_kernel(x, valid, y, D: tl.constexpr, BD: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, BD)
    b_valid = tl.load(valid + i * D + o_d, mask=o_d < D, other=0).to(tl.float32)
    b_x = tl.load(x + i * D + o_d, mask=o_d < D, other=0.0).to(tl.float32) * b_valid
    tl.store(y + i * D + o_d, b_x / tl.sum(b_valid), mask=o_d < D)
