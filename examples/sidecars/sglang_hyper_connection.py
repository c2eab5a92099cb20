"""Workload for sglang 0.5.23: several residual streams mixed into one, by weights that each token gives itself.

    skel apply hoist_producer --workload examples/sidecars/sglang_hyper_connection.py

The wheel is read as an archive (`pip download --no-deps sglang==0.5.23 -d .cache/wheels`) and never installed.
"""

import torch

TARGET = "sglang/kernels/ops/layernorm/hy4_ihc.py"
PACKAGE = "sglang==0.5.23"


def run(inputs):
    from sglang.kernels.ops.layernorm.hy4_ihc import fused_hy4_ihc_pre

    weights = (inputs[name] for name in ("function", "scale", "base"))
    return fused_hy4_ihc_pre(inputs["x"], *weights, magnitude=2.0, norm_eps=1e-6, hc_eps=1e-3)


def reference(inputs):
    """sigmoid of a normalised projection of all streams weighs each stream; a second one weighs the result."""
    x, scale, base = inputs["x"], inputs["scale"], inputs["base"]
    tokens, streams, _ = x.shape
    flat = x.reshape(tokens, -1)
    mixed = flat @ inputs["function"].t() / torch.sqrt((flat * flat).mean(-1, keepdim=True) + 1e-6)
    before = torch.sigmoid(mixed[:, :streams] * scale[0] + base[:streams]) + 1e-3
    after = 2.0 * torch.sigmoid(mixed[:, streams:] * scale[1] + base[streams:]) + 1e-3
    return torch.einsum("tm,tmd->td", before, x), after


def make_inputs(seed, device="cpu", *, tokens, hidden, streams=4, io_dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=device)

    x = normal(tokens, streams, hidden)
    return {
        "x": x if io_dtype == "fp32" else x.to(torch.bfloat16),
        "function": normal(2 * streams, streams * hidden) * (streams * hidden) ** -0.5,
        "scale": 1.0 + 0.1 * normal(2),
        "base": 0.1 * normal(2 * streams),
    }


WORKLOADS = [{"name": "two_tiles", "tokens": 3, "hidden": 1300}, {"name": "one_tile", "tokens": 2, "hidden": 96}]

GPU_WORKLOADS = [{"name": f"t{t}", "tokens": t, "hidden": 8192, "io_dtype": "bf16"} for t in (1, 32, 512)]
