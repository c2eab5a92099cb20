"""The sum starts from what is stored already: every share would start from it as well."""

import triton
import triton.language as tl


@triton.jit
def starts_from_bias_kernel(x, w, y, K, BN: tl.constexpr, BK: tl.constexpr):
    """y += w @ x."""
    o_n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.load(y + o_n)
    for k in range(0, K, BK):
        o_k = k + tl.arange(0, BK)
        b_x = tl.load(x + o_k, mask=o_k < K, other=0.0)
        b_w = tl.load(w + o_n[:, None] * K + o_k[None, :], mask=o_k[None, :] < K, other=0.0)
        acc += tl.sum(b_w * b_x[None, :], 1)
    tl.store(y + o_n, acc)


def run(inputs):
    x, w, y = inputs["x"], inputs["w"], inputs["y"]
    starts_from_bias_kernel[(w.shape[0] // 16,)](x, w, y, w.shape[1], BN=16, BK=32)
    return y
