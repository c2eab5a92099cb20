"""An integer division of loaded numbers has no reciprocal."""

import triton
import triton.language as tl


@triton.jit
def bucket_of_kernel(position, bucket, width, N, BN: tl.constexpr):
    o_n = tl.program_id(0) * BN + tl.arange(0, BN)
    b_position = tl.load(position + o_n, mask=o_n < N, other=0)
    tl.store(bucket + o_n, b_position // width, mask=o_n < N)
