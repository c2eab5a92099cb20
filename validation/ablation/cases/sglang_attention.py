"""Attention of SGLang: decoding on a paged cache, extending it, prefill, and sparse latent attention."""

from __future__ import annotations

from typing import Any

from .base import Case, Inputs


def _cache(inputs: Inputs, sequences: int, length: int, heads: int, width: int) -> tuple[Any, Any, Any, Any]:
    """Key and value buffers, and where each sequence's rows are: shuffled, as after some serving."""
    import torch

    rows = sequences * length
    order = torch.randperm(rows, device=inputs.device)
    starts = inputs.integers([length * number for number in range(sequences + 1)])
    return inputs.randn(rows, heads, width), inputs.randn(rows, heads, width), starts, order


def _decode(inputs: Inputs, heads: int, kv_heads: int) -> object:
    from sglang.kernels.ops.attention.decode_attention import decode_attention_fwd as run

    batch, length, width, splits = inputs.size(64, 2), inputs.size(2048, 32), inputs.size(128, 32), 8
    k, v, starts, order = _cache(inputs, batch, length, kv_heads, width)
    q = inputs.randn(batch, heads, width)
    logits = inputs.empty(batch, heads, splits, width, dtype="float32")
    lse = inputs.empty(batch, heads, splits, dtype="float32")
    counts = inputs.integers([splits] * batch)
    out = inputs.empty(*q.shape)
    return run(q, k, v, out, starts, order, logits, lse, counts, splits, width**-0.5, 1.0, 1.0)


def decode_grouped(inputs: Inputs) -> object:
    return _decode(inputs, 32, 8)


def decode_heads(inputs: Inputs) -> object:
    return _decode(inputs, 16, 16)


def extend(inputs: Inputs) -> object:
    from sglang.kernels.ops.attention.extend_attention import extend_attention_fwd as run

    batch, prefix, fresh, width = inputs.size(8, 2), inputs.size(1024, 32), inputs.size(512, 32), inputs.size(128, 32)
    k, v, starts, order = _cache(inputs, batch, prefix, 8, width)
    q = inputs.randn(batch * fresh, 32, width)
    own = inputs.randn(batch * fresh, 8, width), inputs.randn(batch * fresh, 8, width)
    rows = inputs.integers([fresh * number for number in range(batch + 1)])
    return run(q, *own, inputs.empty(*q.shape), k, v, rows, starts, order, None, True, None, fresh, 1.0, 1.0)


def prefill(inputs: Inputs) -> object:
    from sglang.kernels.ops.attention.prefill_attention import context_attention_fwd as run

    batch, length, width = inputs.size(4, 2), inputs.size(2048, 64), inputs.size(128, 32)
    q = inputs.randn(batch * length, 32, width)
    k, v = (inputs.randn(batch * length, 8, width) for _ in range(2))
    starts = inputs.integers([length * number for number in range(batch)])
    return run(q, k, v, inputs.empty(*q.shape), starts, inputs.integers([length] * batch), length)


def sparse_latent(inputs: Inputs) -> object:
    import torch
    from sglang.kernels.ops.attention.dsa.triton_sparse_mla import triton_sparse_mla_fwd as run

    tokens, rows, chosen = inputs.size(256, 2), inputs.size(16384, 128), inputs.size(2048, 64)
    kv = inputs.randn(rows, 1, 576, scale=0.3)
    indices = torch.stack([torch.randperm(rows, device=inputs.device)[:chosen] for _ in range(tokens)])
    nope, rope = inputs.randn(tokens, 16, 512, scale=0.3), inputs.randn(tokens, 16, 64, scale=0.3)
    return run(nope, rope, kv, indices.to(torch.int32), 576**-0.5)


def combine(inputs: Inputs) -> object:
    from sglang.kernels.ops.attention.dcp_kernels import dcp_lse_combine_triton as run

    shape = (4, inputs.size(1024, 2), inputs.size(32, 1))
    return run(inputs.randn(*shape, inputs.size(128, 32)), inputs.randn(*shape, dtype="float32"), False)


CASES = [
    Case("sglang_decode_grouped", "sglang", "B=64 L=2048 HQ=32 HK=8 D=128 bf16", decode_grouped),
    Case("sglang_decode_heads", "sglang", "B=64 L=2048 H=16 D=128 bf16", decode_heads),
    Case("sglang_extend", "sglang", "B=8 prefix=1024 new=512 HQ=32 HK=8 D=128 bf16", extend),
    Case("sglang_prefill", "sglang", "B=4 T=2048 HQ=32 HK=8 D=128 bf16", prefill),
    Case("sglang_sparse_latent", "sglang", "256 tokens, 2048 of 16384 rows, H=16 D=512+64 bf16", sparse_latent),
    Case("sglang_combine", "sglang", "4 parts of 1024 x 32 x 128 bf16", combine),
]
