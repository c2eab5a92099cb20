"""Linear attention of SGLang: prefill by chunks, decoding by recurrence, convolutions and gates around them."""

from __future__ import annotations

from typing import Any

from .base import Case, Inputs

PACKED = "4 sequences of 2048, H=16 D=128 bf16"


def _packed(inputs: Inputs) -> tuple[Any, Any, Any, Any, Any]:
    """q, k, v of sequences one after the other, where they begin, and states for them."""
    sequences, length = inputs.size(4, 2), inputs.size(2048, 64)
    shape = (1, sequences * length, inputs.size(16, 1), inputs.size(128, 32))
    starts = inputs.integers([length * number for number in range(sequences + 1)], "int64")
    states = inputs.randn(sequences, shape[2], shape[3], shape[3], dtype="float32", scale=0.1)
    return inputs.unit(*shape), inputs.unit(*shape), inputs.randn(*shape), starts, states


def chunk_gated_delta_rule(inputs: Inputs) -> object:
    from sglang.kernels.ops.attention.fla.chunk import chunk_gated_delta_rule as run

    q, k, v, starts, states = _packed(inputs)
    g, beta = inputs.gate(*q.shape[:3]), inputs.sigmoid(*q.shape[:3])
    slots = inputs.integers(list(range(states.shape[0])))
    return run(
        q,
        k,
        v,
        g,
        beta,
        initial_state=states,
        initial_state_indices=slots,
        cu_seqlens=starts,
        use_qk_l2norm_in_kernel=True,
    )


def chunk_kda(inputs: Inputs) -> object:
    from sglang.kernels.ops.attention.fla.kda import chunk_kda as run

    q, k, v, starts, states = _packed(inputs)
    g, beta = inputs.gate(*q.shape), inputs.sigmoid(*q.shape[:3], dtype="float32")
    slots = inputs.integers(list(range(states.shape[0])))
    return run(
        q,
        k,
        v,
        g,
        beta,
        initial_state=states,
        initial_state_indices=slots,
        cu_seqlens=starts,
        use_qk_l2norm_in_kernel=True,
    )


def gating_decode(inputs: Inputs) -> object:
    from sglang.kernels.ops.attention.linear.fused_sigmoid_gating_recurrent import (
        fused_sigmoid_gating_delta_rule_update as run,
    )

    batch, heads, width = inputs.size(128, 2), inputs.size(16, 2), inputs.size(128, 32)
    shape = (1, batch, heads, width)
    starts = inputs.integers(list(range(batch + 1)), "int64")
    states = inputs.randn(batch, heads, width, width, dtype="float32", scale=0.1)
    return run(
        A_log=inputs.randn(heads, dtype="float32"),
        a=inputs.randn(batch, heads),
        dt_bias=inputs.randn(heads),
        softplus_beta=1.0,
        softplus_threshold=20.0,
        q=inputs.randn(*shape),
        k=inputs.randn(*shape),
        v=inputs.randn(*shape),
        b=inputs.randn(batch, heads),
        initial_state_source=states,
        initial_state_indices=inputs.integers(list(range(batch))),
        use_qk_l2norm_in_kernel=True,
        cu_seqlens=starts,
    )


def recurrent_run(inputs: Inputs) -> object:
    from sglang.kernels.ops.attention.fla.fused_recurrent import fused_recurrent_gated_delta_rule as run

    shape = (inputs.size(8, 1), inputs.size(256, 4), inputs.size(16, 1), inputs.size(128, 32))
    g, beta = inputs.gate(*shape[:3]), inputs.sigmoid(*shape[:3])
    return run(inputs.unit(*shape), inputs.unit(*shape), inputs.randn(*shape), g, beta)


def convolution(inputs: Inputs) -> object:
    from sglang.kernels.ops.mamba.causal_conv1d_triton import causal_conv1d_fn as run

    sequences, length, width = inputs.size(4, 2), inputs.size(2048, 16), inputs.size(4096, 64)
    starts = inputs.integers([length * number for number in range(sequences + 1)])
    x = inputs.randn(sequences * length, width).transpose(0, 1)
    states = inputs.empty(sequences, width, 3)
    slots, known = inputs.integers(list(range(sequences))), inputs.integers([False] * sequences, "bool")
    return run(x, inputs.randn(width, 4), None, states, starts, [length] * sequences, slots, known)


def norm_gated(inputs: Inputs) -> object:
    from sglang.kernels.ops.attention.fla.layernorm_gated import layernorm_fn as run

    rows, width = inputs.size(65536, 16), inputs.size(128, 32)
    return run(inputs.randn(rows, width), inputs.randn(width), None, z=inputs.randn(rows, width), is_rms_norm=True)


def norm_gated_blocks(inputs: Inputs) -> object:
    from sglang.kernels.ops.attention.fla.fused_norm_gate import rms_norm_gated as run

    x = inputs.randn(inputs.size(65536, 64), inputs.size(128, 32))
    return run(x, inputs.randn(*x.shape), inputs.randn(x.shape[-1]), None)


CASES = [
    Case("sglang_chunk_gated_delta_rule", "sglang", PACKED, chunk_gated_delta_rule),
    Case("sglang_chunk_kda", "sglang", PACKED, chunk_kda),
    Case("sglang_gating_decode", "sglang", "B=128 T=1 H=16 D=128 bf16, fp32 state", gating_decode),
    Case("sglang_recurrent_run", "sglang", "B=8 T=256 H=16 D=128 bf16", recurrent_run),
    Case("sglang_convolution", "sglang", "4 sequences of 2048, D=4096 W=4 bf16", convolution),
    Case("sglang_norm_gated", "sglang", "65536 x 128 bf16", norm_gated),
    Case("sglang_norm_gated_blocks", "sglang", "65536 x 128 bf16", norm_gated_blocks),
]
