"""A linear recurrence over chunks, h <- A[t] h + B[t], that keeps the state before every chunk.

The state is carried from dot to dot, so the rounding of each product is carried too. tl.dot on fp32 operands rounds
them to TF32 (10 bits) on the GPU unless it is told otherwise, and nothing here tells it.

Skeletons that apply: dot_tf32x3 (the precision of the chain), int64_offsets (products of a program id and a stride
in int32, which wrap past 2**31 elements).
"""

import torch
import triton
import triton.language as tl


@triton.jit
def fp32_dot_chain_kernel(
    a,  # [N, T, D, D] transitions
    b,  # [N, T, D, E] what each chunk adds
    h,  # [N, T, D, E] output: the state before each chunk
    last,  # [N, D, E] output: the state after the last chunk
    stride_a_n,
    stride_b_n,
    T,
    D: tl.constexpr,
    E: tl.constexpr,
    BD: tl.constexpr,
    BE: tl.constexpr,
):
    i_e = tl.program_id(0)
    i_n = tl.program_id(1)
    o_d = tl.arange(0, BD)
    o_e = i_e * BE + tl.arange(0, BE)
    mask_dd = (o_d < D)[:, None] & (o_d < D)[None, :]
    mask_de = (o_d < D)[:, None] & (o_e < E)[None, :]
    p_dd = o_d[:, None] * D + o_d[None, :]
    p_de = o_d[:, None] * E + o_e[None, :]

    b_h = tl.zeros([BD, BE], dtype=tl.float32)
    for t in range(0, T):
        tl.store(h + i_n * stride_b_n + t * D * E + p_de, b_h, mask=mask_de)
        b_a = tl.load(a + i_n * stride_a_n + t * D * D + p_dd, mask=mask_dd, other=0.0)
        b_b = tl.load(b + i_n * stride_b_n + t * D * E + p_de, mask=mask_de, other=0.0)
        b_h = tl.dot(b_a, b_h) + b_b
    tl.store(last + i_n * D * E + p_de, b_h, mask=mask_de)


def run(inputs):
    a, b = inputs["a"], inputs["b"]
    N, T, D, E = b.shape
    h = torch.empty_like(b)
    last = torch.empty_like(b[:, 0])
    BE = 32
    grid = (triton.cdiv(E, BE), N)
    fp32_dot_chain_kernel[grid](
        a, b, h, last, a.stride(0), b.stride(0), T,
        D=D, E=E, BD=max(16, triton.next_power_of_2(D)), BE=BE,
        num_warps=4,
    )  # fmt: skip
    return h, last


def reference(inputs):
    a, b = inputs["a"].double(), inputs["b"].double()
    states = [torch.zeros_like(b[:, 0])]
    for t in range(b.shape[1]):
        states.append(a[:, t] @ states[-1] + b[:, t])
    return torch.stack(states[:-1], dim=1), states[-1]


def make_inputs(seed, device="cpu", *, N, T, D, E):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=device)

    # Entries of size 0.9 / sqrt(D) keep 0.9 of the state's length: long memory that does not blow up.
    return {"a": normal(N, T, D, D) * (0.9 / D**0.5), "b": normal(N, T, D, E)}


WORKLOADS = [
    {"name": "two_tiles", "N": 1, "T": 4, "D": 16, "E": 64},
    {"name": "ragged", "N": 2, "T": 3, "D": 24, "E": 40},
]

GPU_WORKLOADS = [{"name": f"n{n}_t{t}", "N": n, "T": t, "D": 64, "E": 128} for n, t in ((1, 64), (64, 64), (128, 256))]
