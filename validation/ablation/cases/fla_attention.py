"""Attention of FLA by parallel kernels."""

from __future__ import annotations

from typing import Any

from .base import Case, Inputs, backward

SHAPE = "B=2 T=4096 H=16 D=128 bf16"


def _qkv(inputs: Inputs, *, heads: int = 16, kv_heads: int = 16, width: int = 128) -> tuple[Any, Any, Any]:
    batch, tokens, size = inputs.size(2, 1), inputs.size(4096, 64), inputs.size(width, 32)
    few = inputs.size(kv_heads, 1)
    many = inputs.size(heads, heads // kv_heads)
    keys = (batch, tokens, few, size)
    return inputs.randn(batch, tokens, many, size), inputs.randn(*keys), inputs.randn(*keys)


def parallel_attn(inputs: Inputs) -> object:
    from fla.ops.attn import parallel_attn as run

    q, k, v = (t.requires_grad_() for t in _qkv(inputs))
    return backward(run(q, k, v))


def based(inputs: Inputs) -> object:
    from fla.ops.based import parallel_based as run

    q, k, _ = _qkv(inputs, width=16)
    return run(q, k, inputs.randn(*q.shape[:3], inputs.size(128, 32)))


CASES = [
    Case("fla_parallel_attn", "fla-core", SHAPE + ", with backward", parallel_attn, grad=True),
    Case("fla_based", "fla-core", "B=2 T=4096 H=16 K=16 V=128 bf16", based),
]
