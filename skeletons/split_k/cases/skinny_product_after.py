"""A few rows times a matrix with a long inner dimension: two programs, and a loop of many rounds in each."""

import torch
import triton
import triton.language as tl


@triton.jit
def skinny_product_partial_kernel(x, w, b, y, M, N, K, stride_x, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, partial, SPLITS: tl.constexpr):
    """y = silu(x @ w + b)."""
    i_n = tl.program_id(0) // SPLITS
    o_m = tl.arange(0, BM)
    o_n = i_n * BN + tl.arange(0, BN)
    o_k = tl.arange(0, BK)
    p_x = x + o_m[:, None] * stride_x + o_k[None, :]
    p_w = w + o_k[:, None] * N + o_n[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    share = tl.cdiv(tl.cdiv(K, BK), SPLITS)
    first = (tl.program_id(0) % SPLITS) * share
    p_x += first.to(tl.int64) * BK
    p_w += first.to(tl.int64) * (BK * N)
    for k in range(first, tl.minimum(first + share, tl.cdiv(K, BK))):
        left = K - k * BK
        b_x = tl.load(p_x, mask=(o_m[:, None] < M) & (o_k[None, :] < left), other=0.0)
        b_w = tl.load(p_w, mask=(o_k[:, None] < left) & (o_n[None, :] < N), other=0.0)
        acc += tl.dot(b_x, b_w, input_precision="ieee")
        p_x += BK
        p_w += BK * N
    p_partial = partial + tl.program_id(0).to(tl.int64) * (BM * BN)
    tl.store(p_partial + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], acc)


@triton.jit
def skinny_product_kernel(x, w, b, y, M, N, K, stride_x, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, partial, SPLITS: tl.constexpr):
    """y = silu(x @ w + b)."""
    i_n = tl.program_id(0)
    o_m = tl.arange(0, BM)
    o_n = i_n * BN + tl.arange(0, BN)
    o_k = tl.arange(0, BK)
    p_x = x + o_m[:, None] * stride_x + o_k[None, :]
    p_w = w + o_k[:, None] * N + o_n[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    p_partial = partial + tl.program_id(0).to(tl.int64) * (SPLITS * (BM * BN))
    for split in range(SPLITS):
        acc += tl.load(p_partial + split * (BM * BN) + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :])
    acc += tl.load(b + o_n, mask=o_n < N, other=0.0)[None, :]
    acc = acc * tl.sigmoid(acc)
    tl.store(y + o_m[:, None] * N + o_n[None, :], acc, mask=(o_m[:, None] < M) & (o_n[None, :] < N))


def run(inputs):
    x, w, b = inputs["x"], inputs["w"], inputs["b"]
    M, K = x.shape
    N = w.shape[1]
    y = torch.empty(M, N, device=x.device)
    partial = torch.empty(triton.cdiv(N, 16) * 4 * 16 * 16, dtype=torch.float32, device=x.device)
    skinny_product_partial_kernel[(triton.cdiv(N, 16) * 4,)](x=x, w=w, b=b, y=y, M=M, N=N, K=K, stride_x=x.stride(0), BM=16, BN=16, BK=16, partial=partial, SPLITS=4)
    skinny_product_kernel[(triton.cdiv(N, 16),)](x, w, b, y, M, N, K, x.stride(0), BM=16, BN=16, BK=16, partial=partial, SPLITS=4)
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {
        "x": torch.randn(5, 200, generator=generator, device=device),
        "w": torch.randn(200, 24, generator=generator, device=device),
        "b": torch.randn(24, generator=generator, device=device),
    }


WORKLOADS = [{}]
