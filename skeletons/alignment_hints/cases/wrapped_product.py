"""A product whose rows and columns wrap round the ends of the matrices, so that no mask is needed on them."""

import torch
import triton
import triton.language as tl


@triton.jit
def wrapped_product_kernel(a, b, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """y = a @ b, tiles numbered row by row."""
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BN)
    i_m, i_n = pid // tiles_n, pid % tiles_n
    o_m = (i_m * BM + tl.arange(0, BM)) % M
    o_n = (tl.arange(0, BN) + BN * i_n) % N  # columns lie side by side
    o_k = tl.arange(0, BK)
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for k in range(tl.cdiv(K, BK)):
        left = K - k * BK
        b_a = tl.load(a + o_m[:, None] * K + (k * BK + o_k)[None, :], mask=o_k[None, :] < left, other=0.0)
        b_b = tl.load(b + (k * BK + o_k)[:, None] * N + o_n[None, :], mask=o_k[:, None] < left, other=0.0)
        acc += tl.dot(b_a, b_b, input_precision="ieee")
    r_m, r_n = i_m * BM + tl.arange(0, BM), i_n * BN + tl.arange(0, BN)
    tl.store(y + r_m[:, None] * N + r_n[None, :], acc, mask=(r_m[:, None] < M) & (r_n[None, :] < N))


def product(a, b):
    M, K = a.shape
    N = b.shape[1]
    y = torch.empty(M, N, device=a.device)
    grid = (triton.cdiv(M, 16) * triton.cdiv(N, 16),)
    wrapped_product_kernel[grid](a, b, y, M, N, K, BM=16, BN=16, BK=16)
    return y


def run(inputs):
    return product(inputs["a"], inputs["b"])


def make_inputs(seed, device="cpu", M=20, N=32, K=40):
    generator = torch.Generator(device).manual_seed(seed)
    return {
        "a": torch.randn(M, K, generator=generator, device=device),
        "b": torch.randn(K, N, generator=generator, device=device),
    }


WORKLOADS = [{"name": "rows_wrap"}, {"name": "columns_wrap", "M": 32, "N": 24}]
