"""One step of a recurrence with the whole value dimension in a program: few programs where the batch is small."""

import torch
import triton
import triton.language as tl


@triton.jit
def decode_step_kernel(q, k, v, h, o, V, K: tl.constexpr, BV: tl.constexpr):
    i_v, i_n = tl.program_id(0), tl.program_id(1)
    o_k = tl.arange(0, K)
    o_v = i_v * BV + tl.arange(0, BV)
    m_v = o_v < V
    p_h = h + i_n * K * V + o_k[:, None] * V + o_v[None, :]
    b_h = tl.load(p_h, mask=m_v[None, :], other=0.0)
    b_k = tl.load(k + i_n * K + o_k)
    b_k = b_k * tl.rsqrt(tl.sum(b_k * b_k) + 1e-6)
    b_v = tl.load(v + i_n * V + o_v, mask=m_v, other=0.0)
    b_h = b_h * 0.5 + b_k[:, None] * b_v[None, :]
    b_q = tl.load(q + i_n * K + o_k)
    tl.store(o + i_n * V + o_v, tl.sum(b_h * b_q[:, None], 0), mask=m_v)
    tl.store(p_h, b_h, mask=m_v[None, :])


def run(inputs):
    q, v, h = inputs["q"], inputs["v"], inputs["h"]
    (N, K), V = q.shape, v.shape[1]
    BV = triton.next_power_of_2(V)
    o = torch.empty_like(v)
    decode_step_kernel[(triton.cdiv(V, BV), N)](q, inputs["k"], v, h, o, V, K=K, BV=BV)
    return o, h


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    q, k = torch.randn(2, 2, 16, generator=generator, device=device)
    v = torch.randn(2, 40, generator=generator, device=device)
    return {"q": q, "k": k, "v": v, "h": torch.randn(2, 16, 40, generator=generator, device=device)}


WORKLOADS = [{}]
