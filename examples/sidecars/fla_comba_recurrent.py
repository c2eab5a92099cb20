"""Workload for fla-core 0.6.0: the recurrent form of Comba, decode and a short stretch of tokens.

    skel apply fuse_vtiles --workload examples/sidecars/fla_comba_recurrent.py

The wheel is read as an archive (`pip download --no-deps fla-core==0.6.0 -d .cache/wheels`) and never installed.
"""

import torch

TARGET = "fla/ops/comba/fused_recurrent.py"
PACKAGE = "fla-core==0.6.0"

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def run(inputs):
    from fla.ops.comba.fused_recurrent import fused_recurrent_comba_fwd

    names = ("q", "k", "v", "p", "g", "beta")
    scale = inputs["q"].shape[-1] ** -0.5
    return fused_recurrent_comba_fwd(*(inputs[name] for name in names), scale, inputs["state"], True, True)


def reference(inputs):
    """d = beta (v - S^T p); S' = exp(g) S + k d^T; o = S'^T q, token by token, with q, k and p of length one."""
    x = inputs
    heads, key_heads = x["v"].shape[2], x["q"].shape[2]

    def normalise(t):
        return (t / torch.sqrt((t * t).sum(-1, keepdim=True) + 1e-6)).repeat_interleave(heads // key_heads, 2)

    q, k, p = (normalise(x[name]) for name in ("q", "k", "p"))
    out, state = torch.zeros_like(x["v"]), x["state"]
    for t in range(q.shape[1]):
        delta = x["beta"][:, t, :, None] * (x["v"][:, t] - torch.einsum("bhkv,bhk->bhv", state, p[:, t]))
        state = state * torch.exp(x["g"][:, t])[..., None, None]
        state = state + k[:, t][..., None] * delta[:, :, None, :]
        out[:, t] = torch.einsum("bhkv,bhk->bhv", state, q[:, t] * q.shape[-1] ** -0.5)
    return out, state


def make_inputs(seed, device="cpu", *, B, T=1, H=2, HV=2, K=32, V=80, io_dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=device).to(DTYPES[io_dtype])

    def uniform(*shape):
        return torch.rand(shape, generator=generator, device=device)

    return {
        "q": normal(B, T, H, K),
        "k": normal(B, T, H, K),
        "v": normal(B, T, HV, V),
        "p": normal(B, T, H, K),
        "g": -0.5 * uniform(B, T, HV),
        "beta": uniform(B, T, HV),
        "state": torch.randn(B, HV, K, V, generator=generator, device=device),
    }


WORKLOADS = [
    {"name": "decode", "B": 2},
    {"name": "three_tokens", "B": 1, "T": 3, "HV": 4, "K": 48, "V": 40},
]

GPU_WORKLOADS = [
    {"name": f"b{b}_t{t}", "B": b, "T": t, "H": 32, "HV": 32, "K": 128, "V": 128, "io_dtype": "bf16"}
    for b, t in ((16, 1), (64, 1), (8, 128))
]
