"""The autotuner chooses the tile: for two kernels it may choose two."""

import triton
import triton.language as tl


@triton.autotune([triton.Config({"BN": n}, num_warps=4) for n in (16, 32)], key=["N", "K"])
@triton.jit
def tuned_product_kernel(x, w, y, N, K, BN: tl.constexpr, BK: tl.constexpr):
    """y = w @ x."""
    o_n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BN,), dtype=tl.float32)
    for k in range(0, K, BK):
        o_k = k + tl.arange(0, BK)
        b_x = tl.load(x + o_k, mask=o_k < K, other=0.0)
        b_w = tl.load(w + o_n[:, None] * K + o_k[None, :], mask=(o_n[:, None] < N) & (o_k[None, :] < K), other=0.0)
        acc += tl.sum(b_w * b_x[None, :], 1)
    tl.store(y + o_n, acc, mask=o_n < N)


def run(inputs):
    x, w, y = inputs["x"], inputs["w"], inputs["y"]
    N, K = w.shape
    tuned_product_kernel[lambda meta: (triton.cdiv(N, meta["BN"]),)](x, w, y, N, K, BK=64)
    return y
