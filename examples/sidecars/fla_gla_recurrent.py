"""Workload for fla-core 0.6.0: the recurrent form of gated linear attention, decode and a short stretch of tokens.

    skel apply widen_autotune --workload examples/sidecars/fla_gla_recurrent.py

The wheel is read as an archive (`pip download --no-deps fla-core==0.6.0 -d .cache/wheels`) and never installed.
"""

import torch

TARGET = "fla/ops/common/fused_recurrent.py"
PACKAGE = "fla-core==0.6.0"

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def run(inputs):
    from fla.ops.common.fused_recurrent import fused_recurrent_fwd

    q, k, v, gate = (inputs[name] for name in ("q", "k", "v", "gate"))
    return fused_recurrent_fwd(
        q, k, v, gk=gate, scale=k.shape[-1] ** -0.5, initial_state=inputs["state"], output_final_state=True
    )


def reference(inputs):
    """S' = diag(exp g) S + k v^T; o = scale S'^T q, token by token."""
    x = inputs
    out, state = torch.zeros_like(x["v"]), x["state"]
    for t in range(x["q"].shape[1]):
        state = torch.exp(x["gate"][:, t])[..., None] * state + x["k"][:, t][..., None] * x["v"][:, t][:, :, None, :]
        out[:, t] = torch.einsum("bhkv,bhk->bhv", state, x["q"][:, t] * x["q"].shape[-1] ** -0.5)
    return out, state


def make_inputs(seed, device="cpu", *, B, T=1, H=2, K=32, V=40, io_dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=device).to(DTYPES[io_dtype])

    return {
        "q": normal(B, T, H, K),
        "k": normal(B, T, H, K),
        "v": normal(B, T, H, V),
        "gate": -0.5 * torch.rand(B, T, H, K, generator=generator, device=device),
        "state": torch.randn(B, H, K, V, generator=generator, device=device),
    }


WORKLOADS = [{"name": "decode", "B": 2}, {"name": "three_tokens", "B": 1, "T": 3, "K": 48, "V": 24}]

GPU_WORKLOADS = [
    {"name": f"b{b}_t{t}", "B": b, "T": t, "H": 16, "K": 128, "V": 128, "io_dtype": "bf16"}
    for b, t in ((16, 1), (4, 256))
]
