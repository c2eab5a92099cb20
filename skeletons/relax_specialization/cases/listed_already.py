"""The author has listed what is not specialised."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["T"])
def listed_already_kernel(x, y, T, S, D: tl.constexpr):
    o_d = tl.program_id(0) * D + tl.arange(0, D)
    tl.store(y + o_d, tl.load(x + o_d, mask=o_d < T, other=0.0), mask=o_d < S)


def run(inputs):
    x, y = inputs["x"], inputs["y"]
    listed_already_kernel[(4,)](x, y, x.shape[0], y.shape[0], D=16)
    return y
