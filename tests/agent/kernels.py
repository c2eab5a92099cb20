"""A small kernel with hooks, and versions of it."""

from __future__ import annotations

SCALE = '''"""Scale rows to unit length."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + at, mask=at < n, other=1.0)
    length = tl.sqrt(value * value + 1.0)
    result = value / length
    tl.store(y + at, result, mask=at < n)


def scale(x):
    y = torch.empty_like(x)
    B = 16
    scale_kernel[(triton.cdiv(x.numel(), B),)](x, y, x.numel(), B=B)
    return y


def run(inputs):
    return scale(**inputs)


def make_inputs(seed, device="cpu", *, N):
    return {"x": torch.randn(N, generator=torch.Generator().manual_seed(seed)).to(device)}


WORKLOADS = [{"name": "small", "N": 40}]
'''
RENAMED = SCALE.replace("    result = value / length\n", "    scaled = value / length\n").replace(
    "tl.store(y + at, result, ", "tl.store(y + at, scaled, "
)
WRONG = RENAMED.replace("value * value + 1.0", "value * value + 1.5")
"""Two changed places; the one that is wrong stands before the other."""
NO_DIVISION = SCALE.replace("value / length", "value * length")
SCRIPT = SCALE + '\n\nif __name__ == "__main__":\n    print(run(make_inputs(0, N=40)).sum())\n'
