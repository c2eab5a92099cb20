"""Workload for fla-core 0.6.0: the recurrent form of Kimi Delta Attention, decode and a short stretch of tokens.

    skel apply fuse_vtiles --workload examples/sidecars/fla_kda_recurrent.py

The wheel is read as an archive (`pip download --no-deps fla-core==0.6.0 -d .cache/wheels`) and never installed. On the
CPU the gate is computed outside the kernel: inside, it is inline assembly, which the interpreter cannot run.
"""

import torch

TARGET = "fla/ops/kda/fused_recurrent.py"
PACKAGE = "fla-core==0.6.0"

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def run(inputs):
    from fla.ops.kda.fused_recurrent import fused_recurrent_kda

    gate = {name: inputs[name] for name in ("A_log", "dt_bias") if name in inputs}
    return fused_recurrent_kda(
        inputs["q"],
        inputs["k"],
        inputs["v"],
        inputs["g"],
        inputs["beta"],
        initial_state=inputs["state"],
        output_final_state=True,
        use_qk_l2norm_in_kernel=True,
        use_gate_in_kernel=bool(gate),
        use_beta_sigmoid_in_kernel=True,
        **gate,
    )


def reference(inputs):
    """S' = diag(exp g) S; d = beta (v - S'^T k); S = S' + k d^T; o = S^T q, token by token."""
    x = inputs
    heads, key_heads = x["v"].shape[2], x["q"].shape[2]

    def normalise(t):
        return t / torch.sqrt((t * t).sum(-1, keepdim=True) + 1e-6)

    q, k = (normalise(x[name]).repeat_interleave(heads // key_heads, 2) for name in ("q", "k"))
    gate = x["g"]
    if "A_log" in x:
        raised = gate + x["dt_bias"].view(heads, -1)
        gate = -torch.exp(x["A_log"])[:, None] * torch.nn.functional.softplus(raised, threshold=20.0)
    beta = torch.sigmoid(x["beta"])
    out, state = torch.zeros_like(x["v"]), x["state"]
    for t in range(q.shape[1]):
        state = state * torch.exp(gate[:, t])[..., None]
        delta = beta[:, t, :, None] * (x["v"][:, t] - torch.einsum("bhkv,bhk->bhv", state, k[:, t]))
        state = state + k[:, t][..., None] * delta[:, :, None, :]
        out[:, t] = torch.einsum("bhkv,bhk->bhv", state, q[:, t] * q.shape[-1] ** -0.5)
    return out, state


def make_inputs(seed, device="cpu", *, B, T=1, H=2, HV=2, K=32, V=80, gate_in_kernel=False, io_dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape, dtype=io_dtype):
        return torch.randn(shape, generator=generator, device=device).to(DTYPES[dtype])

    def uniform(low, high, *shape):
        return low + (high - low) * torch.rand(shape, generator=generator, device=device)

    inputs = {
        "q": normal(B, T, H, K),
        "k": normal(B, T, H, K),
        "v": normal(B, T, HV, V),
        "g": normal(B, T, HV, K) if gate_in_kernel else -uniform(0.0, 0.5, B, T, HV, K).to(DTYPES[io_dtype]),
        "beta": normal(B, T, HV),
        "state": normal(B, HV, K, V, dtype="fp32"),
    }
    if gate_in_kernel:
        # Decay rates from 1 to 16 and time steps from 0.001 to 0.1, as such layers are initialised.
        dt = torch.exp(uniform(-6.9, -2.3, HV * K))
        inputs["A_log"] = torch.log(uniform(1.0, 16.0, HV))
        inputs["dt_bias"] = torch.log(torch.expm1(dt))  # the inverse of softplus
    return inputs


WORKLOADS = [
    {"name": "three_tiles", "B": 1, "K": 32, "V": 80},
    {"name": "two_tokens", "B": 2, "T": 2, "HV": 4, "K": 48, "V": 40},
]

GPU_WORKLOADS = [
    {
        "name": f"b{b}_t{t}",
        "B": b,
        "T": t,
        "H": 32,
        "HV": 32,
        "K": 128,
        "V": 128,
        "gate_in_kernel": True,
        "io_dtype": "bf16",
    }
    for b, t in ((1, 1), (16, 1), (64, 1), (8, 64))
]
