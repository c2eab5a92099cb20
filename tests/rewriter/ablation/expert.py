"""A kernel that uses every technique that has an inverse, over tiles of 4 rows and 16 columns."""

import triton
import triton.language as tl


@triton.jit
def kernel(x, y, n, EVEN: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    grid_m, grid_n = 5, 2
    width = GROUP * grid_n
    group = pid // width
    first = group * GROUP
    size = min(grid_m - first, GROUP)
    pid_m = first + (pid % width) % size
    pid_n = (pid % width) // size
    tl.assume(n > 0)
    rows = (pid_m * 2 + pid_n) * 4 + tl.arange(0, 4)
    columns = tl.max_contiguous(tl.arange(0, 16), 16)
    at = rows[:, None] * 16 + columns[None, :]
    if EVEN:
        v = tl.load(x + at, eviction_policy="evict_first")
    else:
        v = tl.load(x + at, mask=(rows < n)[:, None], other=0.0, eviction_policy="evict_first")
    s = tl.zeros([4, 16], dtype=tl.float32)
    for step in tl.range(0, 3, num_stages=3):
        s += v * step
    square = tl.dot(s, tl.trans(s), input_precision="tf32x3")
    r = tl.exp2(s - 4.0) * tl.rsqrt(tl.sum(square, 1)[:, None] + 1.0)
    tl.store(y + at, r, mask=(rows < n)[:, None])
