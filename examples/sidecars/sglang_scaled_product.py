"""Workload for sglang 0.5.23: a product of FP8 rows and columns with a scale each, weights contiguous along columns.

    skel apply alignment_hints --workload examples/sidecars/sglang_scaled_product.py

The wheel is read as an archive (`pip download --no-deps sglang==0.5.23 -d .cache/wheels`) and never installed. The
kernel was tuned for another vendor's GPU; its loads wrap round the ends of the matrices instead of being masked.
"""

import torch

TARGET = "sglang/kernels/ops/gemm/fp8_gfx1250.py"
PACKAGE = "sglang==0.5.23"

DTYPES = {"fp32": torch.float32, "fp8": torch.float8_e4m3fn}


def run(inputs):
    from sglang.kernels.ops.gemm.fp8_gfx1250 import gfx1250_fp8_scaled_mm

    x = inputs
    return gfx1250_fp8_scaled_mm(x["a"], x["b"], x["a_scale"], x["b_scale"], out_dtype=torch.float32)


def reference(inputs):
    """(a_scale a) (b b_scale)."""
    x = inputs
    return (x["a"] * x["a_scale"][:, None]) @ (x["b"] * x["b_scale"])


def make_inputs(seed, device="cpu", *, M, N, K, io_dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=device)

    return {
        "a": normal(M, K).to(DTYPES[io_dtype]),
        "b": normal(K, N).to(DTYPES[io_dtype]),
        "a_scale": torch.rand(M, generator=generator, device=device),
        "b_scale": torch.rand(N, generator=generator, device=device),
    }


WORKLOADS = [{"name": "wraps", "M": 70, "N": 192, "K": 64}, {"name": "even", "M": 128, "N": 128, "K": 128}]

GPU_WORKLOADS = [
    {"name": f"m{m}_n{n}", "M": m, "N": n, "K": k, "io_dtype": "fp8"}
    for m, n, k in ((64, 4096, 4096), (512, 6144, 6144))
]
