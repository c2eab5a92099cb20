"""Decays within a chunk: a gate in closed form, linear in a rate, summed up and exponentiated three times."""

import torch
import triton
import triton.language as tl


@triton.jit
def gate(x, bias, rate):
    return -rate * tl.log(1.0 + tl.exp(x + bias))


@triton.jit
def chunk_decay_kernel(a, bias, A_log, up, down, left, T: tl.constexpr, K: tl.constexpr):
    i = tl.program_id(0)
    o_t = tl.arange(0, T)
    o_k = tl.arange(0, K)
    p = i * T * K + o_t[:, None] * K + o_k[None, :]
    b_rate = tl.exp(tl.load(A_log + i).to(tl.float32))
    b_g = gate(tl.load(a + p).to(tl.float32), tl.load(bias + o_k)[None, :], b_rate)
    b_sum = tl.cumsum(b_g, axis=0)
    b_all = tl.sum(b_g, axis=0)
    tl.store(up + p, tl.exp(b_sum))
    tl.store(down + p, tl.exp(b_all[None, :] - b_sum))
    tl.store(left + i * K + o_k, tl.exp(b_all))


def run(inputs):
    a, bias, A_log = inputs["a"], inputs["bias"], inputs["A_log"]
    N, T, K = a.shape
    up, down, left = torch.empty_like(a), torch.empty_like(a), torch.empty(N, K, device=a.device)
    chunk_decay_kernel[(N,)](a, bias, A_log, up, down, left, T=T, K=K)
    return up, down, left


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=device)

    return {"a": normal(2, 8, 16), "bias": normal(16), "A_log": -1 + 0.3 * normal(2)}


WORKLOADS = [{}]
