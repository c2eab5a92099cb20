"""A program without tokens leaves early; in a loop it would leave the work that follows undone."""

import torch
import triton
import triton.language as tl


@triton.jit
def early_exit_kernel(x, lengths, y, N, BN: tl.constexpr):
    row = tl.program_id(0)
    length = tl.load(lengths + row)
    if length == 0:
        return
    o_n = tl.arange(0, BN)
    tl.store(y + row * N + o_n, tl.load(x + row * N + o_n, mask=o_n < length), mask=o_n < length)


def early_exit(x, lengths, y):
    M, N = x.shape
    early_exit_kernel[(M,)](x, lengths, y, N, BN=triton.next_power_of_2(N))
    return torch.count_nonzero(y)
