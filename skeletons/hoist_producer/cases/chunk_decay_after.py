"""The decay of a chunk is summed up and turned into a matrix of factors in every tile of the values."""

import torch
import triton
import triton.language as tl


@triton.heuristics({"HAS_SCALE": lambda args: args["s"] is not None})
@triton.jit
def chunk_decay_producer_kernel(
    g,
    s,
    T,
    producer,
    BT: tl.constexpr,
    HAS_SCALE: tl.constexpr,
):
    i_v, i_t, i_b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    o_t = i_t * BT + tl.arange(0, BT)
    m_t = o_t < T
    b_g = tl.cumsum(tl.load(g + i_b * T + o_t, mask=m_t, other=0).to(tl.float32), 0)
    b_w = tl.exp(b_g[:, None] - b_g[None, :])
    b_w = tl.where(o_t[:, None] >= o_t[None, :], b_w, 0.0)
    b_e = tl.exp(b_g)
    if HAS_SCALE:
        b_e *= tl.load(s + i_b).to(tl.float32)
    p_producer = producer + (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2)).to(tl.int64) * (BT * BT + BT)
    tl.store(p_producer + tl.arange(0, BT)[:, None] * BT + tl.arange(0, BT)[None, :], b_w)
    tl.store(p_producer + BT * BT + tl.arange(0, BT), b_e)


@triton.heuristics({"HAS_SCALE": lambda args: args["s"] is not None})
@triton.jit
def chunk_decay_kernel(
    g,
    s,
    x,
    o,
    T,
    V: tl.constexpr,
    BT: tl.constexpr,
    BV: tl.constexpr,
    HAS_SCALE: tl.constexpr,
    producer,
):
    i_v, i_t, i_b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    o_t = i_t * BT + tl.arange(0, BT)
    m_t = o_t < T
    p_producer = producer + (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2)).to(tl.int64) * (BT * BT + BT)
    b_w = tl.load(p_producer + tl.arange(0, BT)[:, None] * BT + tl.arange(0, BT)[None, :])
    b_e = tl.load(p_producer + BT * BT + tl.arange(0, BT))

    o_v = i_v * BV + tl.arange(0, BV)
    m_x = m_t[:, None] & (o_v < V)[None, :]
    p_x = (i_b * T + o_t)[:, None] * V + o_v[None, :]
    b_x = tl.load(x + p_x, mask=m_x, other=0).to(tl.float32)
    b_o = tl.sum(b_w[:, :, None] * b_x[None, :, :], 1) + b_e[:, None] * b_x
    tl.store(o + p_x, b_o, mask=m_x)


def chunk_decay(g, s, x):
    B, T, V = x.shape
    o = torch.empty_like(x)
    BT = 4
    NT = triton.cdiv(T, BT)

    def grid(meta):
        return (triton.cdiv(V, meta["BV"]), NT, B)

    producer = torch.empty(NT * B * (BT * BT + BT), dtype=torch.float32, device=g.device)
    chunk_decay_producer_kernel[(1, NT, B)](g=g, s=s, T=T, BT=BT, producer=producer)
    chunk_decay_kernel[grid](g=g, s=s, x=x, o=o, T=T, V=V, BT=BT, BV=8, producer=producer)
    return o


def run(inputs):
    return chunk_decay(inputs["g"], inputs["s"], inputs["x"])


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {
        "g": -torch.rand(2, 10, generator=generator, device=device),
        "s": torch.rand(2, generator=generator, device=device),
        "x": torch.randn(2, 10, 24, generator=generator, device=device),
    }


WORKLOADS = [{}]
