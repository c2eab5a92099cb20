"""Gated RMS norm: y = x / rms(x) * weight * silu(z), one row a program.

Skeletons that apply: div_to_reciprocal (the root and the division by it).
"""

import torch
import triton
import triton.language as tl

EPS = 1e-6
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


@triton.jit
def gated_norm_kernel(
    x,  # [M, D]
    z,  # [M, D] gate
    weight,  # [D]
    y,  # [M, D] output
    eps,
    D: tl.constexpr,
    BD: tl.constexpr,
):
    i_m = tl.program_id(0).to(tl.int64)
    o_d = tl.arange(0, BD)
    mask = o_d < D
    b_x = tl.load(x + i_m * D + o_d, mask=mask, other=0.0).to(tl.float32)
    b_z = tl.load(z + i_m * D + o_d, mask=mask, other=0.0).to(tl.float32)
    b_w = tl.load(weight + o_d, mask=mask, other=0.0).to(tl.float32)
    b_rstd = 1.0 / tl.sqrt(tl.sum(b_x * b_x) / D + eps)
    b_y = b_x * b_rstd * b_w * b_z * tl.sigmoid(b_z)
    tl.store(y + i_m * D + o_d, b_y.to(y.dtype.element_ty), mask=mask)


def run(inputs):
    x, z, weight = inputs["x"], inputs["z"], inputs["weight"]
    M, D = x.shape
    y = torch.empty_like(x)
    gated_norm_kernel[(M,)](x, z, weight, y, EPS, D=D, BD=triton.next_power_of_2(D), num_warps=4)
    return y


def reference(inputs):
    x, z, weight = (inputs[name].double() for name in ("x", "z", "weight"))
    return x / torch.sqrt(x.square().mean(-1, keepdim=True) + EPS) * weight * torch.nn.functional.silu(z)


def make_inputs(seed, device="cpu", *, M, D, dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=device).to(DTYPES[dtype])

    return {"x": normal(M, D), "z": normal(M, D), "weight": 1 + 0.1 * normal(D)}


WORKLOADS = [
    {"name": "d64", "M": 4, "D": 64},
    {"name": "d80_bf16", "M": 3, "D": 80, "dtype": "bf16"},
]

GPU_WORKLOADS = [
    {"name": f"m{m}_d{d}", "M": m, "D": d, "dtype": "bf16"} for m, d in ((64, 4096), (4096, 4096), (131072, 128))
]
