"""Optional outputs that a launcher leaves out share no memory; those it may give the same tensor do."""

from __future__ import annotations

import pytest

from skel.rewriter.conditions.aliases import aliases_of
from skel.rewriter.kernel.definition import load_module
from skel.rewriter.kernel.launch import launches_of

FILE = '''import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, first, second, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(first + i, tl.load(x + i))


def run(x, flag, other):
    first = {first}
    second = {second}
    kernel[(1,)](x, first, second, BLOCK=16)
'''


@pytest.mark.parametrize(("first", "second", "shared"), [
    ("torch.empty_like(x) if flag else None", "torch.zeros_like(x) if other else None", {}),
    ("x if flag else None", "None", {"first": "x"}),
    ("torch.empty_like(x)", "first if flag else None", {"second": "first"}),
    ("x.ravel()", "torch.zeros_like(x)", {"first": "x"}),
    ("x.to(x.dtype)", "x.clone()", {"first": "x"}),
    ("torch.reshape(x, (-1,))", "[first][0]", {"first": "x", "second": "x"}),
    ("helper(other)", "x.new_empty(x.shape[0])", {}),
    ("helper(x)", 'dict(a=1)["a"]', {"first": "x"}),
])
def test_none_is_no_memory(first: str, second: str, shared: dict[str, str]) -> None:
    module = load_module(FILE.format(first=first, second=second), "file.py")
    assert aliases_of(module, launches_of(module, module.kernels[0])) == shared
