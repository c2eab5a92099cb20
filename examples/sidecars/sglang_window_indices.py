"""Workload for sglang 0.5.23: the page table of sliding-window attention, one row a query token.

    skel apply parallelise_loop --workload examples/sidecars/sglang_window_indices.py

The wheel is read as an archive (`pip download --no-deps sglang==0.5.23 -d .cache/wheels`) and never installed.
"""

import torch

TARGET = "sglang/kernels/ops/attention/dsv4/attn_metadata_kernels.py"
PACKAGE = "sglang==0.5.23"


def run(inputs):
    from sglang.kernels.ops.attention.dsv4.attn_metadata_kernels import build_causal_swa_page_indices_triton

    return build_causal_swa_page_indices_triton(
        req_to_token=inputs["table"],
        full_to_swa_mapping=inputs["mapping"],
        req_pool_indices_repeated=inputs["requests"],
        seq_lens_casual=inputs["lengths"],
        swa_window=inputs["window"],
        page_index_aligned_size=64,
    )


def reference(inputs):
    """The last tokens of each sequence, newest first, through both tables; -1 where there is none."""
    width = -(-inputs["window"] // 64) * 64
    back = torch.arange(width, device=inputs["table"].device)
    place = inputs["lengths"].long()[:, None] - 1 - back[None, :]
    valid = (back[None, :] < inputs["window"]) & (place >= 0)
    tokens = inputs["table"][inputs["requests"].long()[:, None], place.clamp(min=0)].long()
    return torch.where(valid, inputs["mapping"][tokens], -1).to(torch.int32)


def make_inputs(seed, device="cpu", *, rows, window, context):
    generator = torch.Generator(device).manual_seed(seed)
    tokens = rows * context

    def whole(low, high, *shape, dtype=torch.int32):
        return torch.randint(low, high, shape, generator=generator, device=device, dtype=dtype)

    return {
        "table": torch.randperm(tokens, generator=generator, device=device).view(rows, context).to(torch.int32),
        "mapping": torch.randperm(tokens, generator=generator, device=device),
        "requests": torch.arange(rows, device=device, dtype=torch.int32).flip(0),
        "lengths": whole(1, context + 1, rows),
        "window": window,
    }


WORKLOADS = [
    {"name": "short", "rows": 3, "window": 300, "context": 400},
    {"name": "one_block", "rows": 2, "window": 128, "context": 64},
]

GPU_WORKLOADS = [
    {"name": f"r{r}_w{w}", "rows": r, "window": w, "context": 16384} for r, w in ((1, 4096), (16, 4096), (64, 8192))
]
