"""A repeat in the head of a loop, one that takes the name of its own statement, and one under another flag."""

import torch
import triton
import triton.language as tl


@triton.jit
def shared_head_kernel(lengths, x, y, D: tl.constexpr, TWICE: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, D)
    b_y = tl.zeros([D], dtype=tl.float32)
    b_lengths = tl.load(lengths + i)
    for t in range(b_lengths):
        b_x = tl.load(x + t * D + o_d)
        b_x = b_x * b_x + b_lengths
        b_x_2 = tl.load(x + o_d)
        b_y += b_x * (
            tl.sqrt(b_x_2 * b_x_2 + 1.0)  # twice the same load
        )
    if TWICE:
        b_y += tl.sigmoid(b_y)
    b_z = tl.sigmoid(b_y)
    tl.store(y + i * D + o_d, b_z * b_z)


def run(inputs):
    x, lengths = inputs["x"], inputs["lengths"]
    y = torch.empty(lengths.shape[0], x.shape[1])
    shared_head_kernel[(lengths.shape[0],)](lengths, x, y, D=x.shape[1], TWICE=True)
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {
        "x": torch.randn(5, 16, generator=generator, device=device),
        "lengths": torch.tensor([3, 0, 5], dtype=torch.int32, device=device),
    }


WORKLOADS = [{}]
