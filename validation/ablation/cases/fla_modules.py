"""Norms, activations, losses and convolutions of FLA."""

from __future__ import annotations

from typing import Any

from .base import Case, Inputs

ROWS = "16384 x 2048 bf16"


def _rows(inputs: Inputs, width: int = 2048) -> Any:
    return inputs.randn(inputs.size(16384, 16), inputs.size(width, 64))


def rms_norm(inputs: Inputs) -> object:
    from fla.modules.norm.layernorm import rms_norm as run

    x = _rows(inputs)
    return run(x, inputs.randn(x.shape[-1]), None, residual=inputs.randn(*x.shape), prenorm=True)


def rms_norm_gated(inputs: Inputs) -> object:
    from fla.modules.norm.fused_norm_gate import rms_norm_gated as run

    x = inputs.randn(inputs.size(65536, 16), inputs.size(128, 32))
    return run(x, inputs.randn(*x.shape), inputs.randn(x.shape[-1]), None)


def l2norm(inputs: Inputs) -> object:
    from fla.modules.norm.l2norm import l2norm as run

    return run(inputs.randn(inputs.size(131072, 16), inputs.size(128, 32)))


def swiglu(inputs: Inputs) -> object:
    from fla.modules.activations.ops import swiglu_fwd as run

    x = _rows(inputs, 4096)
    return run(x, inputs.randn(*x.shape))


def cross_entropy(inputs: Inputs) -> object:
    import torch
    from fla.modules.fused_cross_entropy.ops import cross_entropy_fwd as run

    rows, classes = inputs.size(4096, 8), inputs.size(32000, 96)
    return run(inputs.randn(rows, classes), torch.arange(rows, device=inputs.device) % classes)


def rotary(inputs: Inputs) -> object:
    from fla.modules.rotary.ops import rotary_embedding_fwdbwd as run

    tokens, width = inputs.size(4096, 16), inputs.size(128, 32)
    x = inputs.randn(inputs.size(4, 1), tokens, inputs.size(16, 2), width)
    return run(x, inputs.randn(tokens, width // 2), inputs.randn(tokens, width // 2))


CASES = [
    Case("fla_rms_norm", "fla-core", ROWS + ", with residual", rms_norm),
    Case("fla_rms_norm_gated", "fla-core", "65536 x 128 bf16", rms_norm_gated),
    Case("fla_l2norm", "fla-core", "131072 x 128 bf16", l2norm),
    Case("fla_swiglu", "fla-core", "16384 x 4096 bf16", swiglu),
    Case("fla_cross_entropy", "fla-core", "4096 x 32000 bf16", cross_entropy),
    Case("fla_rotary", "fla-core", "B=4 T=4096 H=16 D=128 bf16", rotary),
]
