"""Products of SGLang: mixtures of experts, blockwise quantised products, and what stands between them."""

from __future__ import annotations

from typing import Any

from .base import Case, Inputs

_TILES = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 8}


def _sorted_by_expert(inputs: Inputs, ids: Any, experts: int, block: int) -> tuple[Any, Any, Any]:
    """Rows by expert, padded to whole blocks; the expert of each block; and how many rows that are."""
    import torch

    flat = ids.flatten().cpu()
    rows, owners = [], []
    for expert in range(experts):
        own = torch.nonzero(flat == expert).flatten()
        padded = -(-own.numel() // block) * block
        rows.append(torch.cat([own, torch.full((padded - own.numel(),), flat.numel())]))
        owners += [expert] * (padded // block)
    together = torch.cat(rows)
    return inputs.integers(together), inputs.integers(owners), inputs.integers([together.numel()])


def fused_moe(inputs: Inputs) -> object:
    import torch
    import triton.language as tl
    from sglang.kernels.ops.moe.fused_moe_triton_kernels import invoke_fused_moe_kernel as run

    tokens, experts, top = inputs.size(1024, 8), inputs.size(32, 2), inputs.size(4, 1)
    deep, wide = inputs.size(2048, 64), inputs.size(1408, 128)
    ids = torch.stack([torch.randperm(experts)[:top] for _ in range(tokens)]).to(inputs.device, torch.int32)
    weights = inputs.sigmoid(tokens, top, dtype="float32")
    rows, owners, count = _sorted_by_expert(inputs, ids, experts, _TILES["BLOCK_SIZE_M"])
    a, b = inputs.randn(tokens, deep), inputs.randn(experts, wide, deep, scale=0.05)
    out = inputs.empty(tokens, top, wide)
    return run(
        a,
        b,
        None,
        out,
        None,
        None,
        None,
        weights,
        ids,
        rows,
        owners,
        count,
        False,
        top,
        _TILES | {"num_warps": 4, "num_stages": 4},
        tl.bfloat16,
        False,
        False,
        False,
        False,
        False,
    )


def moe_sum(inputs: Inputs) -> object:
    from sglang.kernels.ops.moe.fused_moe_triton_kernels import moe_sum_reduce_triton as run

    x = inputs.randn(inputs.size(4096, 8), 8, inputs.size(2048, 64))
    return run(x, inputs.empty(x.shape[0], x.shape[2]), 1.0)


def _fp8(made: Any) -> Any:
    import torch

    return made.to(torch.float8_e4m3fn)


def fp8_product(inputs: Inputs) -> object:
    import torch
    from sglang.kernels.ops.gemm.fp8_kernel import w8a8_block_fp8_matmul_triton as run

    rows, columns, deep = inputs.size(2048, 64), inputs.size(4096, 128), inputs.size(7168, 128)
    a, b = _fp8(inputs.randn(rows, deep)), _fp8(inputs.randn(columns, deep))
    scales = inputs.sigmoid(rows, deep // 128, dtype="float32")
    return run(a, b, scales, inputs.sigmoid(columns // 128, deep // 128, dtype="float32"), [128, 128], torch.bfloat16)


def int8_product(inputs: Inputs) -> object:
    import torch
    from sglang.kernels.ops.gemm.int8_kernel import w8a8_block_int8_matmul as run

    rows, columns, deep = inputs.size(2048, 64), inputs.size(4096, 128), inputs.size(4096, 128)
    a = torch.randint(-127, 128, (rows, deep), device=inputs.device, dtype=torch.int8)
    b = torch.randint(-127, 128, (columns, deep), device=inputs.device, dtype=torch.int8)
    scales = inputs.sigmoid(rows, deep // 128, dtype="float32")
    return run(a, b, scales, inputs.sigmoid(columns // 128, deep // 128, dtype="float32"), [128, 128], torch.bfloat16)


def masked_silu_quantised(inputs: Inputs) -> object:
    from sglang.kernels.ops.moe.ep_moe_kernels import silu_and_mul_masked_post_quant_fwd as run

    experts, rows, width = inputs.size(32, 2), inputs.size(256, 8), inputs.size(2048, 128)
    out = _fp8(inputs.empty(experts, rows, width))
    scales = inputs.empty(experts, rows, width // 128, dtype="float32")
    counts = inputs.integers([rows] * experts)
    return run(inputs.randn(experts, rows, 2 * width), out, scales, 128, counts)


def masked_silu(inputs: Inputs) -> object:
    from sglang.kernels.ops.moe.ep_moe_kernels import silu_and_mul_masked_fwd as run

    experts, rows, width = inputs.size(32, 2), inputs.size(256, 8), inputs.size(2048, 128)
    counts = inputs.integers([rows] * experts)
    return run(inputs.randn(experts, rows, 2 * width), inputs.empty(experts, rows, width), counts)


def silu_interleaved(inputs: Inputs) -> object:
    from sglang.kernels.ops.moe.inkling_moe import silu_and_mul as run

    return run(inputs.randn(inputs.size(8192, 16), inputs.size(4096, 128)))


def silu_plain(inputs: Inputs) -> object:
    from sglang.kernels.ops.moe.inkling_moe import silu_and_mul as run

    return run(inputs.randn(inputs.size(8192, 16), inputs.size(4096, 128)), use_interleaved=False)


def silu_aligned(inputs: Inputs) -> object:
    from sglang.kernels.ops.moe.inkling_moe import silu_and_mul_triton as run

    return run(inputs.randn(inputs.size(8192, 16), inputs.size(4096, 128)))


def quantised_activation(inputs: Inputs) -> object:
    from sglang.kernels.ops.quantization.act_quant_triton import act_quant as run

    return run(inputs.randn(inputs.size(8192, 16), inputs.size(4096, 128)), 128, "ue8m0")


def hashed(inputs: Inputs) -> object:
    from sglang.kernels.ops.memory.gpu_tensor_hash import gpu_tensor_hash as run

    return run(inputs.randn(inputs.size(32 << 20, 1 << 14)))


CASES = [
    Case("sglang_fused_moe", "sglang", "1024 tokens, 4 of 32 experts, N=1408 K=2048 bf16", fused_moe),
    Case("sglang_moe_sum", "sglang", "4096 x 8 x 2048 bf16", moe_sum),
    Case("sglang_fp8_product", "sglang", "M=2048 N=4096 K=7168 fp8, blocks of 128", fp8_product),
    Case("sglang_int8_product", "sglang", "M=2048 N=4096 K=4096 int8, blocks of 128", int8_product),
    Case("sglang_masked_silu_quantised", "sglang", "32 x 256 x 2048 bf16 to fp8", masked_silu_quantised),
    Case("sglang_masked_silu", "sglang", "32 x 256 x 2048 bf16", masked_silu),
    Case("sglang_silu_interleaved", "sglang", "8192 x 2048 bf16", silu_interleaved),
    Case("sglang_silu_plain", "sglang", "8192 x 2048 bf16", silu_plain),
    Case("sglang_silu_aligned", "sglang", "8192 x 2048 bf16", silu_aligned),
    Case("sglang_quantised_activation", "sglang", "8192 x 4096 bf16 to fp8", quantised_activation),
    Case("sglang_hashed", "sglang", "64 MiB", hashed),
]
