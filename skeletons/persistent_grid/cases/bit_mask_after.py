"""A mask over a long vector, in blocks that the launch chooses; the id is widened where it is read."""

import torch
import triton
import triton.language as tl


@triton.jit
def bit_mask_kernel(x, m, y, total, BLOCK: tl.constexpr):
    for i_program in range(tl.program_id(0), tl.cdiv(total, BLOCK), tl.num_programs(0)):
        i_block = tl.cast(i_program, tl.int32).to(tl.int64)
        o = i_block * BLOCK + tl.arange(0, BLOCK)
        keep = tl.load(m + o // 8, mask=o < total, other=0)
        b_x = tl.load(x + o, mask=o < total, other=0)
        if tl.sum(keep, 0) == 0:
            tl.store(y + o, tl.zeros([BLOCK], tl.float32), mask=o < total)
        else:
            tl.store(y + o, tl.where(((keep >> (o % 8).to(tl.int32)) & 1) == 1, b_x, -1.0), mask=o < total)


def run(inputs):
    x, m = inputs["x"], inputs["m"]
    y = torch.empty_like(x)
    resident = 4 * (torch.cuda.get_device_properties(m.device).multi_processor_count if m.is_cuda else 1)
    grid = lambda meta: (min(triton.cdiv(x.numel(), meta["BLOCK"]), resident),)
    bit_mask_kernel[grid](x, m, y, x.numel(), BLOCK=32)
    return y


def make_inputs(seed, device="cpu"):
    generator = torch.Generator(device).manual_seed(seed)
    m = torch.randint(0, 256, (50,), generator=generator, device=device, dtype=torch.int32)
    m[8:16] = 0
    return {"x": torch.randn(400, generator=generator, device=device), "m": m}


WORKLOADS = [{}]
