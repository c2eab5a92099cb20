"""Row kernels: a norm with a gate, its backward over a fixed number of programs, a softmax, a cross entropy."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def swish(v):
    return v * tl.sigmoid(v)


@triton.jit
def _rms_gated_rows(
    Y, X, Z, Weight, InvRms, row_pitch, n_cols, eps, BLOCK_N: tl.constexpr, WITH_GATE: tl.constexpr
):
    row = tl.program_id(axis=0)
    lanes = tl.arange(0, BLOCK_N)
    inside = lanes < n_cols
    data = tl.load(X + row * row_pitch + lanes, mask=inside, other=0.0).to(tl.float32)
    mean_sq = tl.sum(data * data, axis=0) / n_cols
    inv = libdevice.rsqrt(mean_sq + eps)
    tl.store(InvRms + row, inv)
    out = data * inv * tl.load(Weight + lanes, mask=inside, other=0.0).to(tl.float32)
    if WITH_GATE:
        out *= swish(tl.load(Z + row * row_pitch + lanes, mask=inside, other=0.0).to(tl.float32))
    tl.store(Y + row * row_pitch + lanes, out, mask=inside)


@triton.jit
def _rms_rows_backward(DX, DY, X, Weight, InvRms, DWPartial, n_rows, n_cols, BLOCK_N: tl.constexpr):
    first = tl.program_id(0)
    step = tl.num_programs(0)
    lanes = tl.arange(0, BLOCK_N)
    inside = lanes < n_cols
    weight = tl.load(Weight + lanes, mask=inside, other=0.0).to(tl.float32)
    weight_grad = tl.zeros([BLOCK_N], dtype=tl.float32)
    for r in tl.range(first, n_rows, step):
        at = r.to(tl.int64) * n_cols
        x = tl.load(X + at + lanes, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(DY + at + lanes, mask=inside, other=0.0).to(tl.float32)
        inv = tl.load(InvRms + r)
        hat = x * inv
        wdy = weight * dy
        c = tl.sum(hat * wdy, axis=0) / n_cols
        tl.store(DX + at + lanes, (wdy - hat * c) * inv, mask=inside)
        weight_grad += dy * hat
    tl.store(DWPartial + first.to(tl.int64) * n_cols + lanes, weight_grad, mask=inside)


@triton.jit
def _row_softmax(Out, In, pitch, n, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    v = tl.load(In + r * pitch + c, mask=c < n, other=float("-inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(Out + r * pitch + c, v / tl.sum(v, 0), mask=c < n)


@triton.jit
def _two_pass_entropy(Logits, Label, Loss, Lse, pitch, n_classes, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    base = Logits + token * pitch
    peak = float("-inf")
    norm = 0.0
    for start in range(0, n_classes, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(base + c, mask=c < n_classes, other=float("-inf")).to(tl.float32)
        new_peak = tl.maximum(peak, tl.max(v, 0))
        norm = norm * tl.exp(peak - new_peak) + tl.sum(tl.exp(v - new_peak), 0)
        peak = new_peak
    lse = peak + tl.log(norm)
    tl.store(Lse + token, lse)
    target = tl.load(Label + token)
    tl.store(Loss + token, lse - tl.load(base + target))
    for start in range(0, n_classes, BLOCK):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(base + c, mask=c < n_classes, other=float("-inf")).to(tl.float32)
        grad = tl.exp(v - lse) - tl.where(c == target, 1.0, 0.0)
        tl.store(base + c, grad, mask=c < n_classes)


@triton.jit
def _center_and_scale(Out, In, n_cols, pitch, eps, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(In + i * pitch + c, mask=c < n_cols, other=0.0, eviction_policy="evict_first").to(tl.float32)
    mu = tl.sum(v, 0) / n_cols
    d = tl.where(c < n_cols, v - mu, 0.0)
    spread = tl.sum(d * d, 0) / n_cols
    scale = 1.0 / tl.sqrt(spread + eps)
    tl.store(Out + i * pitch + c, d * scale, mask=c < n_cols, cache_modifier=".cs")


def forward(x, z, w, eps):
    rows, cols = x.shape
    y, inv = torch.empty_like(x), torch.empty(rows, device=x.device)
    block = triton.next_power_of_2(cols)
    _rms_gated_rows[(rows,)](y, x, z, w, inv, x.stride(0), cols, eps, BLOCK_N=block, WITH_GATE=z is not None)
    return y, inv


def backward(dy, x, w, inv):
    rows, cols = x.shape
    programs = torch.cuda.get_device_properties(x.device).multi_processor_count
    dx, dw = torch.empty_like(x), torch.empty(programs, cols, device=x.device)
    _rms_rows_backward[(programs,)](dx, dy, x, w, inv, dw, rows, cols, BLOCK_N=triton.next_power_of_2(cols))
    return dx, dw.sum(0)


def softmax(x):
    y = torch.empty_like(x)
    _row_softmax[(x.shape[0],)](y, x, x.stride(0), x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def entropy(logits, label):
    loss, lse = (torch.empty(logits.shape[0], device=logits.device) for _ in range(2))
    _two_pass_entropy[(logits.shape[0],)](logits, label, loss, lse, logits.stride(0), logits.shape[1], BLOCK=4096)
    return loss


def standardise(x):
    y = torch.empty_like(x)
    _center_and_scale[(x.shape[0],)](y, x, x.shape[1], x.stride(0), 1e-5, BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
