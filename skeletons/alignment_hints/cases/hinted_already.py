"""The author gives the hint, and answers for it."""

import triton
import triton.language as tl


@triton.jit
def hinted_already_kernel(x, y, N, BN: tl.constexpr):
    """y = x with its end wrapped round."""
    i_n = tl.program_id(0)
    o_n = (i_n * BN + tl.arange(0, BN)) % N
    o_n = tl.max_contiguous(tl.multiple_of(o_n, BN), BN)
    tl.store(y + i_n * BN + tl.arange(0, BN), tl.load(x + o_n))


def run(inputs):
    x, y = inputs["x"], inputs["y"]
    hinted_already_kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BN=64)
    return y
