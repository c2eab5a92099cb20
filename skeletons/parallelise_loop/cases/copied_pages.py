"""One program a request copies its row of the page table, block after block."""

import torch
import triton
import triton.language as tl


@triton.jit
def copied_pages_kernel(table, requests, out, stride, width, BLOCK: tl.constexpr):
    i_r = tl.program_id(0)
    request = tl.load(requests + i_r)
    num_blocks = tl.cdiv(width, BLOCK)
    for i in range(num_blocks):
        o = i * BLOCK + tl.arange(0, BLOCK)
        page = tl.load(table + request * stride + o, mask=o < width, other=0)
        tl.store(out + i_r * width + o, page, mask=o < width)


def run(inputs):
    table, requests = inputs["table"], inputs["requests"]
    out = torch.empty(len(requests), table.shape[1], device=table.device)
    copied_pages_kernel[(len(requests),)](table, requests, out, table.stride(0), table.shape[1], BLOCK=8)
    return out


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    return {
        "table": torch.randn(7, 28, generator=generator, device=device),
        "requests": torch.tensor([3, 0, 6], dtype=torch.int32, device=device),
    }


WORKLOADS = [{}]
