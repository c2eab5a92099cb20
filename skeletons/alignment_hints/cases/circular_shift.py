"""A row read from a start that wraps round its end; its length is known when the kernel is compiled."""

import torch
import triton
import triton.language as tl


@triton.jit
def circular_shift_kernel(x, s, y, N: tl.constexpr, SHIFT: tl.constexpr, BN: tl.constexpr):
    """y = s * roll(x, -SHIFT * BN), one program a row and tile."""
    i_n, row = tl.program_id(0), tl.program_id(1)
    i_source = i_n + SHIFT
    o_n = i_n * BN + tl.arange(0, BN)
    o_s = (i_source * BN + tl.arange(0, BN)) % N
    b_x = tl.load(x + row * N + o_s, mask=o_n < N, other=0.0)
    tl.store(y + row * N + o_n, b_x * tl.load(s + row), mask=o_n < N)


def shifted(x, s):
    R, N = x.shape
    y = torch.empty_like(x)
    circular_shift_kernel[(triton.cdiv(N, 16), R)](x, s, y, N=N, SHIFT=2, BN=16)
    return y


def run(inputs):
    return shifted(inputs["x"], inputs["s"])


def make_inputs(seed, device="cpu", N=48):
    generator = torch.Generator(device).manual_seed(seed)
    return {
        "x": torch.randn(3, N, generator=generator, device=device),
        "s": torch.randn(3, generator=generator, device=device),
    }


WORKLOADS = [{"name": "whole_tiles"}, {"name": "a_tail", "N": 40}]
