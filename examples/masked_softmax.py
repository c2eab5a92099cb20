"""Masked softmax pooling in one pass: out[m] = sum over n of softmax(scale * scores[m])[n] * values[n].

One row a program, as in the inner loop of attention: blocks of N scores at a time, with a running maximum and sum.
Masked scores are -inf; a row with every score masked gives zeros.

Skeletons that apply: exp_to_exp2 (the scores are scaled anyway, so a base-2 exponential can take its factor there).
"""

import torch
import triton
import triton.language as tl


@triton.jit
def masked_softmax_kernel(
    scores,  # [M, N]
    mask,  # [M, N] bool, true where a score counts
    values,  # [N, D]
    out,  # [M, D] output
    scale,
    N,
    D: tl.constexpr,
    BN: tl.constexpr,
    BD: tl.constexpr,
):
    i_m = tl.program_id(0).to(tl.int64)
    o_d = tl.arange(0, BD)
    mask_d = o_d < D
    b_max = -float("inf")
    b_sum = 0.0
    b_out = tl.zeros([BD], dtype=tl.float32)
    for i_n in range(0, N, BN):
        o_n = i_n + tl.arange(0, BN)
        mask_n = o_n < N
        b_s = tl.load(scores + i_m * N + o_n, mask=mask_n, other=0.0).to(tl.float32) * scale
        b_keep = tl.load(mask + i_m * N + o_n, mask=mask_n, other=0) != 0
        b_s = tl.where(b_keep, b_s, -float("inf"))
        b_new_max = tl.maximum(b_max, tl.max(b_s))
        # -inf - -inf is not a number: until a score counts, measure from 0.
        b_shift = tl.where(b_new_max == -float("inf"), 0.0, b_new_max)
        b_p = tl.exp(b_s - b_shift)
        b_rescale = tl.exp(b_max - b_shift)
        b_values = tl.load(values + o_n[:, None] * D + o_d[None, :], mask=mask_n[:, None] & mask_d[None, :], other=0.0)
        b_sum = b_sum * b_rescale + tl.sum(b_p)
        b_out = b_out * b_rescale + tl.sum(b_p[:, None] * b_values.to(tl.float32), axis=0)
        b_max = b_new_max
    b_out = b_out / tl.where(b_sum == 0.0, 1.0, b_sum)
    tl.store(out + i_m * D + o_d, b_out.to(out.dtype.element_ty), mask=mask_d)


def run(inputs):
    scores, mask, values = inputs["scores"], inputs["mask"], inputs["values"]
    (M, N), D = scores.shape, values.shape[1]
    out = torch.empty(M, D, dtype=values.dtype, device=values.device)
    masked_softmax_kernel[(M,)](
        scores, mask, values, out, D**-0.5, N, D=D, BN=32, BD=triton.next_power_of_2(D), num_warps=4
    )
    return out


def reference(inputs):
    scores, values, mask = inputs["scores"].double(), inputs["values"].double(), inputs["mask"].bool()
    scores = (scores * values.shape[1] ** -0.5).masked_fill(~mask, -torch.inf)
    nothing = scores.amax(-1, keepdim=True) == -torch.inf
    return torch.softmax(scores.masked_fill(nothing, 0.0), -1).masked_fill(nothing, 0.0) @ values


def make_inputs(seed, device="cpu", *, M, N, D):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=device)

    mask = torch.rand(M, N, generator=generator, device=device) < 0.7
    mask[0] = False
    mask[-1, : N // 2] = False
    # A score is a dot product of D channels, so it spreads like sqrt(D).
    return {"scores": normal(M, N) * D**0.5, "mask": mask, "values": normal(N, D)}


WORKLOADS = [
    {"name": "two_blocks", "M": 3, "N": 64, "D": 32},
    {"name": "ragged", "M": 3, "N": 75, "D": 24},
]

GPU_WORKLOADS = [{"name": f"m{m}_n{n}", "M": m, "N": n, "D": 128} for m, n in ((1024, 1024), (8192, 2048))]
