"""Flags that are tested in every program, though a launch knows them."""

import torch
import triton
import triton.language as tl


@triton.jit
def flagged_rows_with_bias_0_kernel(x, b, y, N, with_bias: tl.constexpr, BN: tl.constexpr):
    """y = relu(x + b), the bias only where it is asked for."""
    row = tl.program_id(0)
    o_n = tl.arange(0, BN)
    mask = o_n < N
    b_x = tl.load(x + row * N + o_n, mask=mask, other=0.0)
    if with_bias:
        b_x += tl.load(b + o_n, mask=mask, other=0.0)
    tl.store(y + row * N + o_n, tl.maximum(b_x, 0.0), mask=mask)


@triton.jit
def flagged_rows_kernel(x, b, y, N, with_bias, BN: tl.constexpr):
    """y = relu(x + b), the bias only where it is asked for."""
    row = tl.program_id(0)
    o_n = tl.arange(0, BN)
    mask = o_n < N
    b_x = tl.load(x + row * N + o_n, mask=mask, other=0.0)
    if with_bias:
        b_x += tl.load(b + o_n, mask=mask, other=0.0)
    tl.store(y + row * N + o_n, tl.maximum(b_x, 0.0), mask=mask)


def rows(x, b, bias):
    y = torch.empty_like(x)
    if x.shape[0] > 0:
        if bias == 0:
            flagged_rows_with_bias_0_kernel[(x.shape[0],)](x, b, y, x.shape[1], bias, BN=32)
        else:
            flagged_rows_kernel[(x.shape[0],)](x, b, y, x.shape[1], bias, BN=32)
    return y


def run(inputs):
    x, b = inputs["x"], inputs["b"]
    return rows(x, b, 1), rows(x, b, 0)


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {
        "x": torch.randn(5, 20, generator=generator, device=device),
        "b": torch.randn(20, generator=generator, device=device),
    }


WORKLOADS = [{}]
