"""Online softmax over blocks of scores that also stores the log-sum-exp, in the natural base."""

import torch
import triton
import triton.language as tl


@triton.jit
def online_lse_kernel(s, v, o, lse, scale, N, D: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr):
    i = tl.program_id(0)
    o_d = tl.arange(0, BD)
    b_m = -float("inf")
    b_l = 0.0
    b_o = tl.zeros([BD], dtype=tl.float32)
    for i_n in range(0, N, BN):
        o_n = i_n + tl.arange(0, BN)
        b_s = tl.load(s + i * N + o_n, mask=o_n < N, other=0.0).to(tl.float32) * (scale * 1.4426950408889634)
        b_s = tl.where(o_n < N, b_s, -float("inf"))  # past the end
        b_new = tl.maximum(b_m, tl.max(b_s, 0))
        b_r = tl.exp2(b_m - b_new)
        b_p = tl.exp2(b_s - b_new)
        b_v = tl.load(v + o_n[:, None] * D + o_d[None, :], mask=(o_n < N)[:, None] & (o_d < D)[None, :], other=0.0)
        b_l = b_l * b_r + tl.sum(b_p, 0)
        b_o = b_o * b_r + tl.sum(b_p[:, None] * b_v, 0)
        b_m = b_new
    tl.store(o + i * D + o_d, b_o / b_l, mask=o_d < D)
    tl.store(lse + i, (b_m * 0.6931471805599453) + tl.log(b_l))


def run(inputs):
    s, v = inputs["s"], inputs["v"]
    o = torch.empty(s.shape[0], v.shape[1], device=s.device)
    lse = torch.empty(s.shape[0], device=s.device)
    online_lse_kernel[(s.shape[0],)](s, v, o, lse, 0.3, s.shape[1], D=v.shape[1], BN=16, BD=32)
    return o, lse


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    s = 5 * torch.randn(5, 40, generator=generator, device=device)
    return {"s": s, "v": torch.randn(40, 24, generator=generator, device=device)}


WORKLOADS = [{}]
