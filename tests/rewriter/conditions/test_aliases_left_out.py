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


CALLED = '''import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, first, second, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(first + i, tl.load(x + i))


def go(x, first, second=None):
    kernel[(1,)](x, first, second, BLOCK=16)


def twice(a, b):
    go(a, b)


def run(x, flag, other, n, m):
    {before}
    {call}
'''


@pytest.mark.parametrize(("before", "call", "shared"), [
    ("pass", "kernel[(1,)](x[0], x[1], other, BLOCK=16)", {}),
    ("pass", "kernel[(1,)](x[n], x[m], other, BLOCK=16)", {"first": "x"}),
    ("pass", "kernel[(1,)](x[:-1], x[1:], other, BLOCK=16)", {"first": "x"}),
    ("pass", "kernel[(1,)](x[:, :n], x[:, n:], other, BLOCK=16)", {}),
    ("pass", "kernel[(1,)](x[:4], x[4:9], other, BLOCK=16)", {}),
    ("pass", "kernel[(1,)](x[:4], x[3:9], other, BLOCK=16)", {"first": "x"}),
    ("pass", "kernel[(1,)](x[0][1], x[0], other, BLOCK=16)", {"first": "x"}),
    ("pass", "kernel[(1,)](x.T[0], x[1], other, BLOCK=16)", {"first": "x"}),
    ("y = x if n else other\n    if m:\n        y = other", "kernel[(1,)](x, y, flag, BLOCK=16)", {"first": "x"}),
    ("if n:\n        other = torch.empty_like(x)", "kernel[(1,)](x, other, flag, BLOCK=16)", {}),
    ("y, z = x.chunk(2)", "kernel[(1,)](y, other, x, BLOCK=16)", {"second": "x"}),
    ("for y in (x, other):\n        pass", "kernel[(1,)](x, y, flag, BLOCK=16)", {"first": "x"}),
    ("y = x\n    y += 1", "kernel[(1,)](x, y, other, BLOCK=16)", {"first": "x"}),
    ("y = torch.zeros_like(x, out=x)", "kernel[(1,)](x, y, other, BLOCK=16)", {"first": "x"}),
    ("d = dict(a=x)", 'kernel[(1,)](x, d["a"], other, BLOCK=16)', {"first": "x"}),
    ("pass", "go(x, x)", {"first": "x"}),
    ("pass", "go(first=x, x=x.view(-1))", {"first": "x"}),
    ("pass", "go(x[0], x[1])", {}),
    ("pass", "go(x, other)", {}),
    ("pass", "twice(x, x)", {"first": "x"}),
    ("pass", "twice(x, other)", {}),
])
def test_memory_is_shared_by_parts_arms_and_callers(before: str, call: str, shared: dict[str, str]) -> None:
    module = load_module(CALLED.format(before=before, call=call), "file.py")
    launches = launches_of(module, module.kernels[0])
    assert aliases_of(module, launches) == shared
