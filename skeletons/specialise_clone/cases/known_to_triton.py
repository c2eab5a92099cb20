"""Nothing keeps Triton from compiling a kernel of its own for one step: a copy would be the same."""

import triton
import triton.language as tl


@triton.jit
def known_to_triton_kernel(x, y, T, BD: tl.constexpr):
    """y = sum of x."""
    o_d = tl.arange(0, BD)
    b_y = tl.zeros([BD], dtype=tl.float32)
    for t in range(0, T):
        b_y += tl.load(x + t * BD + o_d)
    tl.store(y + o_d, b_y)


def run(inputs):
    x, y = inputs["x"], inputs["y"]
    known_to_triton_kernel[(1,)](x, y, x.shape[0], BD=16)
    return y
