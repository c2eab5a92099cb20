"""Norms of SGLang, of language and of diffusion models."""

from __future__ import annotations

from typing import Any

from .base import Case, Inputs

ROWS = "8192 x 4096 bf16"
SHORT = "131072 x 128 bf16"


def _rows(inputs: Inputs, rows: int = 8192, width: int = 4096) -> Any:
    return inputs.randn(inputs.size(rows, 16), inputs.size(width, 128))


def one_pass(inputs: Inputs) -> object:
    from sglang.kernels.ops.diffusion.norm.rmsnorm_onepass_triton import _triton_one_pass_rms_norm_cuda as run

    x = _rows(inputs, 131072, 128)
    return run(x, inputs.randn(x.shape[-1]))


def fp32_weights(inputs: Inputs) -> object:
    from sglang.kernels.ops.layernorm.rmsnorm_fp32 import rmsnorm_fp32 as run

    x = _rows(inputs)
    return run(x, inputs.randn(x.shape[-1], dtype="float32"), 1e-6)


def fp8_groups(inputs: Inputs) -> object:
    from sglang.kernels.ops.layernorm.rmsnorm_fp8_e8m0 import rmsnorm_fp8_e8m0_quant as run

    x = _rows(inputs)
    return run(x, inputs.randn(x.shape[-1]), 1e-6)


def gemma_residual(inputs: Inputs) -> object:
    from sglang.kernels.ops.layernorm.gemma4_fused_ops import gemma_rmsnorm_residual_scalar as run

    x = _rows(inputs)
    return run(x, inputs.randn(x.shape[-1]), inputs.randn(*x.shape), inputs.randn(1))


def gemma_dual(inputs: Inputs) -> object:
    from sglang.kernels.ops.layernorm.gemma4_fused_ops import gemma_dual_rmsnorm_residual_scalar as run

    x = _rows(inputs)
    weights = [inputs.randn(x.shape[-1]) for _ in range(3)]
    return run(x, weights[0], inputs.randn(*x.shape), weights[1], weights[2], inputs.randn(*x.shape), inputs.randn(1))


def scaled(inputs: Inputs) -> object:
    from sglang.kernels.ops.diffusion.norm.native_bf16_rmsnorm_triton import rmsnorm_scale as run

    x = inputs.randn(inputs.size(2, 1), inputs.size(4096, 16), inputs.size(3840, 128))
    return run(x, inputs.randn(x.shape[-1]), inputs.randn(x.shape[0], 1, x.shape[-1]), 1e-6)


def heads(inputs: Inputs) -> object:
    from sglang.kernels.ops.diffusion.norm.zimage_qk_rmsnorm_triton import zimage_qk_rmsnorm_native as run

    x = inputs.randn(inputs.size(2, 1), inputs.size(4096, 16), inputs.size(30, 2), 128)
    return run(x, inputs.randn(128), 1e-6)


def vae(inputs: Inputs) -> object:
    from sglang.kernels.ops.diffusion.norm.h3_vae_fused_norm import h3_vae_rmsnorm as run

    x = _rows(inputs, 16384, 1024)
    return run(x, inputs.randn(x.shape[-1]), 1e-6)


def vae_added(inputs: Inputs) -> object:
    from sglang.kernels.ops.diffusion.norm.h3_vae_fused_norm import h3_vae_scale_add_rmsnorm as run

    x = _rows(inputs, 16384, 1024)
    weight = inputs.randn(x.shape[-1])
    return run(x, inputs.randn(*x.shape), inputs.randn(x.shape[-1]), weight, 1e-6)


def shifted(inputs: Inputs) -> object:
    from sglang.kernels.ops.diffusion.norm.rmsnorm_scale_shift_triton import _rmsnorm_scale_shift_per_token_cuda as run

    x = inputs.randn(inputs.size(2, 1), inputs.size(4096, 16), inputs.size(3072, 128))
    return run(x, inputs.randn(x.shape[-1]), inputs.randn(*x.shape), inputs.randn(*x.shape), 1e-6)


def grouped_silu(inputs: Inputs) -> object:
    from sglang.kernels.ops.diffusion.norm.group_norm_silu_triton import _triton_group_norm_silu_cuda as run

    channels, side = inputs.size(256, 32), inputs.size(128, 8)
    return run(inputs.randn(1, channels, side, side), inputs.randn(channels), inputs.randn(channels), 32)


def query_key_inverse(inputs: Inputs) -> object:
    from sglang.kernels.ops.diffusion.attention.sana_wm_gdn_triton import fused_qk_inv_rms as run

    return run(inputs.randn(inputs.size(2, 1), inputs.size(8192, 16), 3, inputs.size(20, 2), inputs.size(112, 32)))


CASES = [
    Case("sglang_norm_one_pass", "sglang", SHORT, one_pass),
    Case("sglang_norm_fp32_weights", "sglang", ROWS, fp32_weights),
    Case("sglang_norm_fp8_groups", "sglang", ROWS + " to fp8", fp8_groups),
    Case("sglang_norm_gemma_residual", "sglang", ROWS, gemma_residual),
    Case("sglang_norm_gemma_dual", "sglang", ROWS, gemma_dual),
    Case("sglang_norm_scaled", "sglang", "2 x 4096 x 3840 bf16", scaled),
    Case("sglang_norm_heads", "sglang", "2 x 4096 x 30 x 128 bf16", heads),
    Case("sglang_norm_vae", "sglang", "16384 x 1024 bf16", vae),
    Case("sglang_norm_vae_added", "sglang", "16384 x 1024 bf16", vae_added),
    Case("sglang_norm_shifted", "sglang", "2 x 4096 x 3072 bf16", shifted),
    Case("sglang_norm_grouped_silu", "sglang", "1 x 256 x 128 x 128 bf16", grouped_silu),
    Case("sglang_norm_query_key", "sglang", "2 x 8192 x 20 x 112 bf16", query_key_inverse),
]
