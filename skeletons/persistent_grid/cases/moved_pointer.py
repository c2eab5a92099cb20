"""The program moves its pointers to its own row: a second row would start from the first one's place."""

import torch
import triton
import triton.language as tl


@triton.jit
def moved_pointer_kernel(x, y, stride, N, BN: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    y += row * N
    o_n = tl.arange(0, BN)
    tl.store(y + o_n, tl.load(x + o_n, mask=o_n < N), mask=o_n < N)


def moved_pointer(x):
    M, N = x.shape
    y = torch.empty(M, N, device=x.device)
    moved_pointer_kernel[(M,)](x, y, x.stride(0), N, BN=triton.next_power_of_2(N))
    return y
