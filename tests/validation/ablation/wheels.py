"""A wheel of a package that there are cases for, with one small kernel of its own instead of the package's."""

from __future__ import annotations

import zipfile
from pathlib import Path

PLACE = "fla/modules/norm/l2norm.py"
KERNEL = """import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x, y, D: tl.constexpr):
    at = tl.program_id(0) * D + tl.arange(0, D)
    v = tl.load(x + at, eviction_policy="evict_first").to(tl.float32)
    tl.store(y + at, v * tl.rsqrt(tl.sum(v * v) + 1e-6))


def l2norm(x):
    y = torch.empty_like(x)
    rows_kernel[(x.shape[0],)](x, y, x.shape[1])
    return y
"""


def wheel(folder: Path, name: str = "fla_core-0.0.1-py3-none-any.whl", text: str = KERNEL) -> Path:
    """The wheel's path. Besides the kernel it holds what no bundle needs."""
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(PLACE, text)
        archive.writestr("fla/modules/plain.py", "VALUE = 1\n")
        archive.writestr("fla/ops/ascend/npu.py", text)
        archive.writestr("fla/data.bin", "0")
        archive.writestr("other/module.py", "raise SystemExit\n")
    return path
