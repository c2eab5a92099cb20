"""Reads memory and nothing else, to see how fast that goes. Imported in workers on a GPU only."""

import triton
import triton.language as tl

BLOCK = 8192
"""Words of 32 bits a program reads."""


@triton.jit  # type: ignore[untyped-decorator]
def read_kernel(x, out, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    """One sum a program; the sum keeps the loads from being dropped."""
    i = tl.program_id(0)
    values = tl.load(x + i.to(tl.int64) * BLOCK + tl.arange(0, BLOCK))
    tl.store(out + i, tl.sum(values, axis=0))
