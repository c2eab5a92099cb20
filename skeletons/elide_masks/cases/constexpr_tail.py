"""A product loop over constexpr dimensions: the tail of K is masked in every round, and so is N."""

import torch
import triton
import triton.language as tl


@triton.jit
def constexpr_tail_kernel(
    a, b, c, M, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr
):
    o_m = tl.program_id(0) * BM + tl.arange(0, BM)
    o_n, o_k = tl.arange(0, BN), tl.arange(0, BK)
    m_n = o_n < N
    acc = tl.zeros([BM, BN], dtype=tl.float32)
    for k in range(tl.cdiv(K, BK)):
        b_a = tl.load(
            a + o_m[:, None] * K + k * BK + o_k[None, :],
            mask=(o_m[:, None] < M) & (o_k[None, :] < K - k * BK),
            other=0.0,
        )
        b_b = tl.load(b + (k * BK + o_k)[:, None] * N + o_n[None, :], mask=(k * BK + o_k < K)[:, None], other=0.0)
        acc += tl.dot(b_a, b_b)
        acc += tl.load(b + o_n, mask=m_n, other=0.0)[None, :]
    tl.store(c + o_m[:, None] * N + o_n[None, :], acc, mask=(o_m[:, None] < M) & m_n[None, :])


def run(inputs):
    a, b = inputs["a"], inputs["b"]
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N)
    constexpr_tail_kernel[(triton.cdiv(M, 16),)](a, b, c, M, N=N, K=K, BM=16, BK=16, BN=16)
    return c


def make_inputs(seed, device="cpu", K=40):
    generator = torch.Generator(device).manual_seed(seed)
    return {
        "a": torch.randn(20, K, generator=generator, device=device),
        "b": torch.randn(K, 16, generator=generator, device=device),
    }


WORKLOADS = [{}, {"K": 32}]
