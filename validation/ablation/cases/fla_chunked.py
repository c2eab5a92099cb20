"""Chunked linear attention of FLA: training and prefill."""

from __future__ import annotations

from typing import Any

from .base import Case, Inputs, backward

SHAPE = "B=2 T=4096 H=16 D=128 bf16"
BACKWARD = "B=2 T=4096 H=16 D=128 bf16, with backward"


def _qkv(inputs: Inputs, *, heads: int = 16, width: int = 128, grad: bool = False) -> tuple[Any, Any, Any]:
    shape = (inputs.size(2, 1), inputs.size(4096, 64), inputs.size(heads, 1), inputs.size(width, 32))
    made = inputs.unit(*shape), inputs.unit(*shape), inputs.randn(*shape)
    return tuple(t.requires_grad_(grad) for t in made)  # type: ignore[return-value]


def chunk_kda(inputs: Inputs) -> object:
    from fla.ops.kda import chunk_kda as run

    q, k, v = _qkv(inputs, grad=True)
    g, beta = inputs.gate(*q.shape).requires_grad_(), inputs.sigmoid(*q.shape[:3]).requires_grad_()
    return backward(run(q, k, v, g, beta, use_qk_l2norm_in_kernel=True))


def chunk_gated_delta_rule(inputs: Inputs) -> object:
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule as run

    q, k, v = _qkv(inputs)
    g, beta = inputs.gate(*q.shape[:3]), inputs.sigmoid(*q.shape[:3])
    return run(q, k, v, g, beta, use_qk_l2norm_in_kernel=True)


def chunk_gla(inputs: Inputs) -> object:
    from fla.ops.gla import chunk_gla as run

    q, k, v = _qkv(inputs, grad=True)
    return backward(run(q, k, v, inputs.gate(*q.shape).requires_grad_()))


def chunk_simple_gla(inputs: Inputs) -> object:
    from fla.ops.simple_gla import chunk_simple_gla as run

    q, k, v = _qkv(inputs)
    return run(q, k, v, inputs.gate(*q.shape[:3]))


def chunk_delta_rule(inputs: Inputs) -> object:
    from fla.ops.delta_rule import chunk_delta_rule as run

    q, k, v = _qkv(inputs)
    return run(q, k, v, inputs.sigmoid(*q.shape[:3]))


def chunk_precond_kda(inputs: Inputs) -> object:
    from fla.ops.precond_kda import chunk_precond_kda as run

    q, k, v = _qkv(inputs)
    g, beta = inputs.gate(*q.shape), inputs.sigmoid(*q.shape[:3])
    return run(q, k, v, g, inputs.gate(*q.shape[:3]), inputs.sigmoid(*q.shape[:3]), beta)


def chunk_abc(inputs: Inputs) -> object:
    from fla.ops.abc import chunk_abc as run

    q, k, v = _qkv(inputs)
    slots = inputs.randn(*q.shape[:3], inputs.size(64, 32))
    return run(q, k, v, slots)


CASES = [
    Case("fla_chunk_kda", "fla-core", BACKWARD, chunk_kda, grad=True),
    Case("fla_chunk_gated_delta_rule", "fla-core", SHAPE, chunk_gated_delta_rule),
    Case("fla_chunk_gla", "fla-core", BACKWARD, chunk_gla, grad=True),
    Case("fla_chunk_simple_gla", "fla-core", SHAPE, chunk_simple_gla),
    Case("fla_chunk_delta_rule", "fla-core", SHAPE, chunk_delta_rule),
    Case("fla_chunk_precond_kda", "fla-core", SHAPE, chunk_precond_kda),
    Case("fla_chunk_abc", "fla-core", SHAPE, chunk_abc),
]
