"""Workload for sglang 0.5.23: the first half of a LoRA, a few tokens times a matrix of low rank and long rows.

    skel apply split_k --workload examples/sidecars/sglang_lora_shrink.py

The wheel is read as an archive (`pip download --no-deps sglang==0.5.23 -d .cache/wheels`) and never installed.
"""

from types import SimpleNamespace

import torch

TARGET = "sglang/kernels/ops/lora/dense/sgemm_lora_a.py"
PACKAGE = "sglang==0.5.23"

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def run(inputs):
    from sglang.kernels.ops.lora.dense.sgemm_lora_a import sgemm_lora_a_fwd

    batch = SimpleNamespace(
        max_len=inputs["max_len"],
        bs=inputs["lengths"].numel(),
        permutation=None,
        seg_lens=inputs["lengths"],
        seg_indptr=inputs["starts"],
        weight_indices=inputs["adapters"],
        lora_ranks=inputs["ranks"],
    )
    return sgemm_lora_a_fwd(inputs["x"], inputs["weights"], batch)


def reference(inputs):
    """Each token times the matrix of its sequence's adapter."""
    rows = inputs["adapters"].long().repeat_interleave(inputs["lengths"].long())
    return torch.einsum("sk,snk->sn", inputs["x"], inputs["weights"][rows])


def make_inputs(seed, device="cpu", *, sequences, tokens=1, adapters=2, rank=16, K=512, io_dtype="fp32"):
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=device).to(DTYPES[io_dtype])

    def whole(values):
        return torch.tensor(values, device=device, dtype=torch.int32)

    return {
        "x": normal(sequences * tokens, K),
        "weights": normal(adapters, rank, K) * K**-0.5,
        "lengths": whole([tokens] * sequences),
        "starts": whole([tokens * n for n in range(sequences + 1)]),
        "adapters": whole([n % adapters for n in range(sequences)]),
        "ranks": whole([rank] * adapters),
        "max_len": tokens,
    }


WORKLOADS = [
    {"name": "decode", "sequences": 3, "K": 520},
    {"name": "two_tiles", "sequences": 2, "tokens": 20, "rank": 32},
]

GPU_WORKLOADS = [
    {"name": f"n{n}_k{k}", "sequences": n, "adapters": 4, "rank": 32, "K": k, "io_dtype": "bf16"}
    for n, k in ((1, 4096), (8, 4096), (16, 14336))
]
