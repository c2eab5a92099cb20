"""Packed or padded rows by a flag, an id that goes into a helper, a length that only bounds."""

import torch
import triton
import triton.language as tl


@triton.jit
def weight_of(i, H: tl.constexpr):
    return 1.0 / (1 + i % H)


@triton.jit
def packed_rows_kernel(x, offsets, y, T, stride, H: tl.constexpr, D: tl.constexpr, PACKED: tl.constexpr):
    i_n, i_h = tl.program_id(0), tl.program_id(1)
    if PACKED:
        bos = tl.load(offsets + i_n).to(tl.int64)
        T = (tl.load(offsets + i_n + 1) - bos).to(tl.int32)
    else:
        bos = i_n * T
    o_d = tl.arange(0, D)
    w = weight_of(i_h, H)
    for t in range(T):
        p = (bos + t) * stride + i_h * stride // H + o_d
        tl.store(y + p, w * tl.load(x + p))


def run(inputs):
    x = inputs["x"]
    y, z = torch.zeros_like(x), torch.zeros_like(x)
    N, H, D = inputs["offsets"].shape[0] - 1, x.shape[1], x.shape[2]
    T = x.shape[0] // N
    packed_rows_kernel[(N, H)](x, inputs["offsets"], y, T, x.stride(0), H=H, D=D, PACKED=True)
    packed_rows_kernel[(N, H)](x, inputs["offsets"], z, T, x.stride(0), H=H, D=D, PACKED=False)
    return y, z


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    x = torch.randn(6, 2, 16, generator=generator, device=device)
    return {"x": x, "offsets": torch.tensor([0, 1, 6], dtype=torch.int32, device=device)}


WORKLOADS = [{}]
