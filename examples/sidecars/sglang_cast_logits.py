"""Workload for sglang 0.5.23: logits of a step widened to fp32, one block of the vocabulary a program.

    skel apply split_tiles --workload examples/sidecars/sglang_cast_logits.py

The wheel is read as an archive (`pip download --no-deps sglang==0.5.23 -d .cache/wheels`) and never installed.
"""

import torch

TARGET = "sglang/kernels/ops/activation/softcap.py"
PACKAGE = "sglang==0.5.23"


def run(inputs):
    from sglang.kernels.ops.activation.softcap import cast_to_float32_logits

    logits = inputs["logits"]
    return cast_to_float32_logits(logits, torch.empty(logits.shape, dtype=torch.float32, device=logits.device))


def reference(inputs):
    """The same numbers."""
    return inputs["logits"].to(inputs["logits"].dtype)


def make_inputs(seed, device="cpu", *, rows, vocabulary):
    generator = torch.Generator(device).manual_seed(seed)
    return {"logits": torch.randn(rows, vocabulary, generator=generator, device=device).to(torch.bfloat16)}


WORKLOADS = [{"name": "two_blocks", "rows": 3, "vocabulary": 700}, {"name": "one_block", "rows": 1, "vocabulary": 90}]

GPU_WORKLOADS = [
    {"name": f"r{r}_v{v}", "rows": r, "vocabulary": v} for r, v in ((1, 32000), (1, 151936), (64, 151936))
]
