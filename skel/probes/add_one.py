"""The smallest kernel that loads, adds and stores; the probes interpret and compile it."""

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def add_one(x, y, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """y[i] = x[i] + 1 for i < n."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)
