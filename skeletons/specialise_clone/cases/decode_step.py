"""A recurrence over time that decoding runs with one step, compiled for any number of steps."""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["T"])
def decode_step_kernel(x, g, h0, y, T, D, BD: tl.constexpr):
    """h = g * h + x, y = h, one program a sequence and tile."""
    i_d, i_n = tl.program_id(0), tl.program_id(1)
    o_d = i_d * BD + tl.arange(0, BD)
    mask = o_d < D
    p = (i_n * T) * D + o_d
    b_h = tl.load(h0 + i_n * D + o_d, mask=mask, other=0.0)
    for _ in range(0, T):
        b_x = tl.load(x + p, mask=mask, other=0.0)
        b_g = tl.sigmoid(tl.load(g + p, mask=mask, other=0.0))
        b_h = b_g * b_h + b_x
        tl.store(y + p, b_h, mask=mask)
        p += D


def decode(x, g, h0):
    """One launch, whatever the number of steps."""
    N, T, D = x.shape
    y = torch.empty_like(x)
    decode_step_kernel[(triton.cdiv(D, 16), N)](
        x, g, h0, y,
        T=T,  # tokens of a sequence
        D=D, BD=16,
    )  # fmt: skip
    return y


def run(inputs):
    return decode(inputs["x"], inputs["g"], inputs["h0"])


def make_inputs(seed, device="cpu", T=1):
    generator = torch.Generator(device).manual_seed(seed)
    return {
        "x": torch.randn(2, T, 24, generator=generator, device=device),
        "g": torch.randn(2, T, 24, generator=generator, device=device),
        "h0": torch.randn(2, 24, generator=generator, device=device),
    }


WORKLOADS = [{"name": "one", "T": 1}, {"name": "three", "T": 3}]
