"""The kernel adds to what it reads: each configuration that is tried would add once more."""

import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BN": 64}, num_warps=4)], key=["N"])
@triton.jit
def adds_in_place_kernel(x, y, N, BN: tl.constexpr):
    o_n = tl.program_id(0) * BN + tl.arange(0, BN)
    b_y = tl.load(y + o_n, mask=o_n < N) + tl.load(x + o_n, mask=o_n < N)
    tl.store(y + o_n, b_y, mask=o_n < N)


def adds_in_place(x, y):
    N = x.numel()
    adds_in_place_kernel[lambda meta: (triton.cdiv(N, meta["BN"]),)](x, y, N)
