"""Recurrent kernels of FLA: decoding, one token a sequence, and short runs."""

from __future__ import annotations

from typing import Any

from .base import Case, Inputs

DECODE = "B=128 T=1 H=16 D=128 bf16, fp32 state"
RUN = "B=8 T=256 H=16 D=128 bf16"


def _qkv(inputs: Inputs, batch: int, tokens: int) -> tuple[Any, Any, Any]:
    shape = (inputs.size(batch, 2), inputs.size(tokens, 2), inputs.size(16, 2), inputs.size(128, 32))
    return inputs.unit(*shape), inputs.unit(*shape), inputs.randn(*shape)


def _state(inputs: Inputs, q: Any) -> Any:
    return inputs.randn(q.shape[0], q.shape[2], q.shape[3], q.shape[3], dtype="float32", scale=0.1)


def kda_decode(inputs: Inputs, batch: int = 128, tokens: int = 1) -> object:
    from fla.ops.kda import fused_recurrent_kda as run

    q, k, v = _qkv(inputs, batch, tokens)
    g, beta = inputs.gate(*q.shape), inputs.sigmoid(*q.shape[:3])
    return run(q, k, v, g, beta, initial_state=_state(inputs, q), output_final_state=True, use_qk_l2norm_in_kernel=True)


def kda_run(inputs: Inputs) -> object:
    return kda_decode(inputs, 8, 256)


def gated_delta_rule_decode(inputs: Inputs, batch: int = 128, tokens: int = 1) -> object:
    from fla.ops.gated_delta_rule import fused_recurrent_gated_delta_rule as run

    q, k, v = _qkv(inputs, batch, tokens)
    g, beta = inputs.gate(*q.shape[:3]), inputs.sigmoid(*q.shape[:3])
    return run(
        q, k, v, g=g, beta=beta, initial_state=_state(inputs, q), output_final_state=True, use_qk_l2norm_in_kernel=True
    )


def gated_delta_rule_run(inputs: Inputs) -> object:
    return gated_delta_rule_decode(inputs, 8, 256)


def gdn2_decode(inputs: Inputs, batch: int = 128, tokens: int = 1) -> object:
    from fla.ops.gdn2 import fused_recurrent_gdn2 as run

    q, k, v = _qkv(inputs, batch, tokens)
    b, w = inputs.sigmoid(*q.shape), inputs.sigmoid(*v.shape)
    return run(q, k, v, inputs.gate(*q.shape), b, w, initial_state=_state(inputs, q), output_final_state=True)


def gdn2_run(inputs: Inputs) -> object:
    return gdn2_decode(inputs, 8, 256)


def precond_kda_run(inputs: Inputs) -> object:
    from fla.ops.precond_kda import fused_recurrent_precond_kda as run

    q, k, v = _qkv(inputs, 8, 256)
    g, beta = inputs.gate(*q.shape), inputs.sigmoid(*q.shape[:3])
    return run(q, k, v, g, inputs.gate(*q.shape[:3]), inputs.sigmoid(*q.shape[:3]), beta)


def gla_run(inputs: Inputs) -> object:
    from fla.ops.gla import fused_recurrent_gla as run

    q, k, v = _qkv(inputs, 8, 256)
    return run(q, k, v, gk=inputs.gate(*q.shape))


def delta_rule_run(inputs: Inputs) -> object:
    from fla.ops.delta_rule import fused_recurrent_delta_rule as run

    q, k, v = _qkv(inputs, 8, 256)
    return run(q, k, v, inputs.sigmoid(*q.shape[:3]))


def hgrn_run(inputs: Inputs) -> object:
    from fla.ops.hgrn import fused_recurrent_hgrn as run

    shape = (inputs.size(8, 1), inputs.size(2048, 16), inputs.size(2048, 64))
    return run(inputs.randn(*shape), inputs.gate(*shape))


def attnres(inputs: Inputs) -> object:
    from fla.ops.attnres import fused_attnres as run

    width = inputs.size(2048, 64)
    rows = [inputs.randn(inputs.size(2, 1), inputs.size(4096, 16), width) for _ in range(inputs.size(8, 2))]
    return run(inputs.randn(width, scale=0.05), rows, inputs.randn(width))


def rwkv7_key(inputs: Inputs) -> object:
    from fla.ops.rwkv7.fused_k_update import fused_k_rwkv7 as run

    shape = (inputs.size(4, 1), inputs.size(4096, 16), inputs.size(2048, 64))
    return run(inputs.randn(*shape), inputs.sigmoid(*shape), inputs.randn(shape[-1]))


CASES = [
    Case("fla_kda_decode", "fla-core", DECODE, kda_decode),
    Case("fla_kda_run", "fla-core", RUN, kda_run),
    Case("fla_gated_delta_rule_decode", "fla-core", DECODE, gated_delta_rule_decode),
    Case("fla_gated_delta_rule_run", "fla-core", RUN, gated_delta_rule_run),
    Case("fla_gdn2_decode", "fla-core", DECODE, gdn2_decode),
    Case("fla_gdn2_run", "fla-core", RUN, gdn2_run),
    Case("fla_precond_kda_run", "fla-core", RUN, precond_kda_run),
    Case("fla_gla_run", "fla-core", RUN, gla_run),
    Case("fla_delta_rule_run", "fla-core", RUN, delta_rule_run),
    Case("fla_hgrn_run", "fla-core", "B=8 T=2048 D=2048 bf16", hgrn_run),
    Case("fla_attnres", "fla-core", "8 residuals of 8192 x 2048 bf16", attnres),
    Case("fla_rwkv7_key", "fla-core", "16384 x 2048 bf16", rwkv7_key),
]
