"""Kernels of different length, from about 2 µs to 5 ms on an H200, by which timing itself is tried.

    python -m skel.validation.timing.controls examples/controls/kernels.py --state DIR

Each case is timed against itself, and against the same code in the other setting of `CHANGED`: other warps, tiles,
stages, or a small rewriting. Some of the changes gain, some lose, some do nothing; none is meant to be good.
"""

import torch
import triton
import triton.language as tl

CHANGED = False


def one_of(original, changed):
    return changed if CHANGED else original


@triton.jit
def add_kernel(x, y, out, N, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = o < N
    tl.store(out + o, tl.load(x + o, mask=mask) + tl.load(y + o, mask=mask), mask=mask)


def add(x, y, block, warps):
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), block),)
    add_kernel[grid](x, y, out, x.numel(), BLOCK=block, num_warps=warps)
    return out


@triton.jit
def gelu_kernel(x, out, N, BLOCK: tl.constexpr, ROUNDS: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    b_x = tl.load(x + o, mask=o < N, other=0.0).to(tl.float32)
    for _ in tl.static_range(ROUNDS):
        b_x = b_x / (1.0 + tl.exp(-1.5957691216 * (b_x + 0.044715 * b_x * b_x * b_x)))
    tl.store(out + o, b_x.to(out.dtype.element_ty), mask=o < N)


def gelu(x, rounds, block, warps):
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), block),)
    gelu_kernel[grid](x, out, x.numel(), BLOCK=block, ROUNDS=rounds, num_warps=warps)
    return out


@triton.jit
def row_sum_kernel(x, out, D, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    b_sum = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, D, BLOCK):
        o = start + tl.arange(0, BLOCK)
        b_sum += tl.load(x + i.to(tl.int64) * D + o, mask=o < D, other=0.0).to(tl.float32)
    tl.store(out + i, tl.sum(b_sum))


def row_sum(x, block, warps):
    out = torch.empty(x.shape[0], dtype=torch.float32, device=x.device)
    row_sum_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=block, num_warps=warps)
    return out


@triton.jit
def softmax_kernel(x, out, D, BLOCK: tl.constexpr, BASE2: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    o = tl.arange(0, BLOCK)
    b_x = tl.load(x + i * D + o, mask=o < D, other=-float("inf")).to(tl.float32)
    b_x = b_x - tl.max(b_x, axis=0)
    b_e = tl.exp2(b_x * 1.4426950408889634) if BASE2 else tl.exp(b_x)
    tl.store(out + i * D + o, (b_e / tl.sum(b_e, axis=0)).to(out.dtype.element_ty), mask=o < D)


def softmax(x, base2, warps):
    out = torch.empty_like(x)
    block = triton.next_power_of_2(x.shape[1])
    softmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=block, BASE2=base2, num_warps=warps)
    return out


@triton.jit
def norm_kernel(x, w, out, D, eps, BLOCK: tl.constexpr, MEAN: tl.constexpr, TWICE: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    o = tl.arange(0, BLOCK)
    b_x = tl.load(x + i * D + o, mask=o < D, other=0.0).to(tl.float32)
    if MEAN:
        b_x = tl.where(o < D, b_x - tl.sum(b_x) / D, 0.0)
    b_scale = tl.rsqrt(tl.sum(b_x * b_x) / D + eps)
    if TWICE:
        tl.debug_barrier()
        b_y = tl.load(x + i * D + o, mask=o < D, other=0.0, volatile=True).to(tl.float32)
        b_x = tl.where(o < D, b_y - tl.sum(b_y) / D, 0.0) if MEAN else b_y
    b_w = tl.load(w + o, mask=o < D, other=0.0).to(tl.float32)
    tl.store(out + i * D + o, (b_x * b_scale * b_w).to(out.dtype.element_ty), mask=o < D)


def norm(x, w, mean, twice, warps):
    out = torch.empty_like(x)
    rows, D = x.shape
    block = triton.next_power_of_2(D)
    norm_kernel[(rows,)](x, w, out, D, 1e-5, BLOCK=block, MEAN=mean, TWICE=twice, num_warps=warps)
    return out


@triton.jit
def transpose_kernel(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    o_m = tl.program_id(0) * BM + tl.arange(0, BM)
    o_n = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (o_m < M)[:, None] & (o_n < N)[None, :]
    b_x = tl.load(x + o_m[:, None] * N + o_n[None, :], mask=mask)
    tl.store(out + o_n[:, None] * M + o_m[None, :], tl.trans(b_x), mask=tl.trans(mask))


def transpose(x, tile, warps):
    M, N = x.shape
    out = torch.empty(N, M, dtype=x.dtype, device=x.device)
    transpose_kernel[(triton.cdiv(M, tile), triton.cdiv(N, tile))](x, out, M, N, BM=tile, BN=tile, num_warps=warps)
    return out


@triton.jit
def matmul_kernel(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, PRECISION: tl.constexpr
):
    i = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = i // (GROUP * tiles_n) * GROUP
    high = tl.minimum(tiles_m - first, GROUP)
    i_m = first + i % high
    i_n = i % (GROUP * tiles_n) // high
    o_m, o_n, o_k = i_m * BM + tl.arange(0, BM), i_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    p_a = a + o_m[:, None] * K + o_k[None, :]
    p_b = b + o_k[:, None] * N + o_n[None, :]
    b_c = tl.zeros([BM, BN], dtype=tl.float32)
    for _ in range(0, K, BK):
        b_c = tl.dot(tl.load(p_a), tl.load(p_b), b_c, input_precision=PRECISION)
        p_a += BK
        p_b += BK * N
    tl.store(c + o_m[:, None] * N + o_n[None, :], b_c.to(c.dtype.element_ty))


def matmul(a, b, tile, k, group, precision, warps, stages):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N, dtype=a.dtype, device=a.device)
    tile = min(tile, M)
    matmul_kernel[(triton.cdiv(M, tile) * triton.cdiv(N, tile),)](
        a, b, c, M, N, K, BM=tile, BN=tile, BK=min(k, K), GROUP=group, PRECISION=precision,
        num_warps=warps, num_stages=stages,
    )  # fmt: skip
    return c


@triton.jit
def attention_kernel(
    q, k, v, out, scale, L, T, D: tl.constexpr, BL: tl.constexpr, BT: tl.constexpr, BASE2: tl.constexpr
):
    i_l, i_h = tl.program_id(0), tl.program_id(1).to(tl.int64)
    o_l, o_d = i_l * BL + tl.arange(0, BL), tl.arange(0, D)
    mask_l = o_l < L
    b_q = tl.load(q + (i_h * L + o_l[:, None]) * D + o_d[None, :], mask=mask_l[:, None], other=0.0)
    b_m = tl.full([BL], -float("inf"), dtype=tl.float32)
    b_sum = tl.zeros([BL], dtype=tl.float32)
    b_o = tl.zeros([BL, D], dtype=tl.float32)
    for start in range(0, T, BT):
        o_t = start + tl.arange(0, BT)
        b_k = tl.load(k + (i_h * T + o_t[:, None]) * D + o_d[None, :])
        b_s = tl.dot(b_q, tl.trans(b_k)) * scale
        b_new = tl.maximum(b_m, tl.max(b_s, axis=1))
        b_s = b_s - b_new[:, None]
        b_p = tl.exp2(b_s * 1.4426950408889634) if BASE2 else tl.exp(b_s)
        b_keep = tl.exp(b_m - b_new)
        b_v = tl.load(v + (i_h * T + o_t[:, None]) * D + o_d[None, :])
        b_sum = b_sum * b_keep + tl.sum(b_p, axis=1)
        b_o = tl.dot(b_p.to(b_v.dtype), b_v, b_o * b_keep[:, None])
        b_m = b_new
    b_o = b_o / b_sum[:, None]
    tl.store(out + (i_h * L + o_l[:, None]) * D + o_d[None, :], b_o.to(out.dtype.element_ty), mask=mask_l[:, None])


def attention(q, k, v, rows, block, base2, warps):
    (H, L, D), T = q.shape, k.shape[1]
    out = torch.empty_like(q)
    attention_kernel[(triton.cdiv(L, rows), H)](
        q, k, v, out, D**-0.5, L, T, D=D, BL=rows, BT=block, BASE2=base2, num_warps=warps
    )
    return out


@triton.jit
def recurrence_kernel(a, x, out, T, C, BLOCK: tl.constexpr, AHEAD: tl.constexpr):
    o_c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = o_c < C
    b_h = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, T, AHEAD):
        for t in tl.static_range(AHEAD):
            o = (start + t) * C + o_c
            b_a = tl.load(a + o, mask=mask, other=0.0)
            b_h = b_h * b_a + tl.load(x + o, mask=mask, other=0.0)
            tl.store(out + o, b_h, mask=mask)


def recurrence(a, x, block, ahead, warps):
    T, C = x.shape
    out = torch.empty_like(x)
    recurrence_kernel[(triton.cdiv(C, block),)](a, x, out, T, C, BLOCK=block, AHEAD=ahead, num_warps=warps)
    return out


@triton.jit
def delta_kernel(q, k, v, g, state, out, after, K: tl.constexpr, V: tl.constexpr, BV: tl.constexpr):
    i_v, i_h = tl.program_id(0), tl.program_id(1).to(tl.int64)
    o_k, o_v = tl.arange(0, K), i_v * BV + tl.arange(0, BV)
    b_q, b_k, b_g = tl.load(q + i_h * K + o_k), tl.load(k + i_h * K + o_k), tl.load(g + i_h * K + o_k)
    b_v = tl.load(v + i_h * V + o_v)
    o_state = (i_h * V + o_v[:, None]) * K + o_k[None, :]
    b_s = tl.load(state + o_state) * tl.exp(b_g)[None, :]
    b_s += (b_v - tl.sum(b_s * b_k[None, :], axis=1))[:, None] * b_k[None, :]
    tl.store(out + i_h * V + o_v, tl.sum(b_s * b_q[None, :], axis=1))
    tl.store(after + o_state, b_s)


def delta(q, k, v, g, state, tile, warps):
    H, V, K = state.shape
    out, after = torch.empty_like(v), torch.empty_like(state)
    delta_kernel[(V // tile, H)](q, k, v, g, state, out, after, K=K, V=V, BV=tile, num_warps=warps)
    return out, after


@triton.jit
def gather_kernel(table, rows, out, D, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    row = tl.load(rows + i).to(tl.int64)
    for start in range(0, D, BLOCK):
        o = start + tl.arange(0, BLOCK)
        tl.store(out + i * D + o, tl.load(table + row * D + o, mask=o < D), mask=o < D)


def gather(table, rows, block, warps):
    D = table.shape[1]
    out = torch.empty(rows.numel(), D, dtype=table.dtype, device=table.device)
    gather_kernel[(rows.numel(),)](table, rows, out, D, BLOCK=block, num_warps=warps)
    return out


@triton.jit
def sort_kernel(x, out, D: tl.constexpr):
    i, o = tl.program_id(0).to(tl.int64), tl.arange(0, D)
    tl.store(out + i * D + o, tl.sort(tl.load(x + i * D + o)))


def sort(x, warps):
    out = torch.empty_like(x)
    sort_kernel[(x.shape[0],)](x, out, D=x.shape[1], num_warps=warps)
    return out


@triton.jit
def conv_kernel(x, w, out, T, C, W: tl.constexpr, BT: tl.constexpr, BC: tl.constexpr):
    i_t, i_c, i_b = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    o_t, o_c = i_t * BT + tl.arange(0, BT), i_c * BC + tl.arange(0, BC)
    b_y = tl.zeros([BT, BC], dtype=tl.float32)
    for j in tl.static_range(W):
        o_s = o_t - j
        mask = ((o_s >= 0) & (o_s < T))[:, None] & (o_c < C)[None, :]
        b_x = tl.load(x + (i_b * T + o_s[:, None]) * C + o_c[None, :], mask=mask, other=0.0).to(tl.float32)
        b_y += b_x * tl.load(w + j * C + o_c, mask=o_c < C, other=0.0)[None, :]
    mask = (o_t < T)[:, None] & (o_c < C)[None, :]
    tl.store(out + (i_b * T + o_t[:, None]) * C + o_c[None, :], b_y.to(out.dtype.element_ty), mask=mask)


def conv(x, w, tile, warps):
    B, T, C = x.shape
    out = torch.empty_like(x)
    conv_kernel[(triton.cdiv(T, tile), triton.cdiv(C, 64), B)](
        x, w, out, T, C, W=w.shape[0], BT=tile, BC=64, num_warps=warps
    )
    return out


RUN = {
    "add_small": lambda x, y: add(x, y, one_of(1024, 128), 4),
    "add_large": lambda x, y: add(x, y, one_of(1024, 256), one_of(4, 1)),
    "gelu_small": lambda x: gelu(x, 1, one_of(1024, 4096), one_of(4, 1)),
    "gelu_deep": lambda x: gelu(x, 24, one_of(1024, 512), one_of(4, 2)),
    "row_sum": lambda x: row_sum(x, one_of(1024, 128), 4),
    "softmax_wide": lambda x: softmax(x, one_of(False, True), one_of(8, 16)),
    "layer_norm": lambda x, w: norm(x, w, True, one_of(False, True), 8),
    "rms_norm": lambda x, w: norm(x, w, False, False, one_of(8, 4)),
    "transpose": lambda x: transpose(x, one_of(64, 16), one_of(4, 1)),
    "matmul_small": lambda a, b: matmul(a, b, 64, 64, 8, "ieee", 4, one_of(3, 1)),
    "matmul_fp32": lambda a, b: matmul(a, b, 64, 32, 8, "tf32x3", one_of(4, 8), 3),
    "matmul": lambda a, b: matmul(a, b, 128, one_of(64, 32), 8, "ieee", 8, 3),
    "matmul_large": lambda a, b: matmul(a, b, 128, 64, one_of(8, 1), "ieee", 8, 3),
    "decode_attention": lambda q, k, v: attention(q, k, v, 16, one_of(64, 128), False, 4),
    "attention": lambda q, k, v: attention(q, k, v, 64, 64, one_of(False, True), 4),
    "recurrence": lambda a, x: recurrence(a, x, 128, one_of(1, 4), 4),
    "recurrence_long": lambda a, x: recurrence(a, x, one_of(128, 64), one_of(1, 2), 2),
    "delta_step": lambda **given: delta(**given, tile=one_of(8, 32), warps=one_of(1, 4)),
    "gather": lambda table, rows: gather(table, rows, one_of(1024, 256), one_of(4, 2)),
    "sort": lambda x: sort(x, one_of(4, 2)),
    "conv": lambda x, w: conv(x, w, one_of(32, 64), 4),
}


def run(inputs):
    given = {name: value for name, value in inputs.items() if name != "case"}
    return RUN[inputs["case"]](**given)


def make_inputs(seed, device="cpu", *, case, dtype="float32", **shapes):
    """Normal values of the given shapes, scaled so that nothing grows; `rows` are indices of a table."""
    generator = torch.Generator(device).manual_seed(seed)
    made = {"case": case}
    for name, shape in shapes.items():
        value = torch.randn(shape, generator=generator, device=device)
        if name == "rows":
            value = torch.randint(0, shapes["table"][0], shape, generator=generator, device=device, dtype=torch.int32)
        elif name == "a" and case.startswith("recurrence"):
            value = torch.sigmoid(value)
        elif name == "g":
            value = -torch.exp(value - 3.0)
        elif case == "delta_step" and name in ("q", "k"):
            value = value * shape[-1] ** -0.5
        made[name] = value if name == "rows" else value.to(getattr(torch, dtype))
    return made


def _qkv(heads, queries, keys, dim):
    return {"q": (heads, queries, dim), "k": (heads, keys, dim), "v": (heads, keys, dim)}


def _delta(heads, K, V):
    return dict.fromkeys("qkg", (heads, K)) | {"v": (heads, V), "state": (heads, V, K)}


SHAPES = {
    # case: dtype, shapes that the interpreter is quick with, shapes for a GPU
    "add_small": ("float32", {"x": (700,), "y": (700,)}, {"x": (2**17,), "y": (2**17,)}),
    "add_large": ("float32", {"x": (2048,), "y": (2048,)}, {"x": (2**26,), "y": (2**26,)}),
    "gelu_small": ("bfloat16", {"x": (3000,)}, {"x": (2**19,)}),
    "gelu_deep": ("float32", {"x": (2000,)}, {"x": (2**23,)}),
    "row_sum": ("float32", {"x": (2, 300)}, {"x": (4096, 1000)}),
    "softmax_wide": ("float32", {"x": (2, 300)}, {"x": (4096, 16000)}),
    "layer_norm": ("bfloat16", {"x": (2, 100), "w": (100,)}, {"x": (4096, 2048), "w": (2048,)}),
    "rms_norm": ("bfloat16", {"x": (2, 128), "w": (128,)}, {"x": (16384, 4096), "w": (4096,)}),
    "transpose": ("float32", {"x": (70, 40)}, {"x": (4096, 4096)}),
    "matmul_small": ("bfloat16", {"a": (64, 64), "b": (64, 64)}, {"a": (512, 512), "b": (512, 512)}),
    "matmul_fp32": ("float32", {"a": (64, 64), "b": (64, 64)}, {"a": (2048, 2048), "b": (2048, 2048)}),
    "matmul": ("bfloat16", {"a": (64, 64), "b": (64, 64)}, {"a": (4096, 4096), "b": (4096, 4096)}),
    "matmul_large": ("bfloat16", {"a": (64, 64), "b": (64, 64)}, {"a": (8192, 8192), "b": (8192, 8192)}),
    "decode_attention": ("bfloat16", _qkv(2, 8, 128, 16), _qkv(128, 8, 4096, 128)),
    "attention": ("bfloat16", _qkv(1, 64, 128, 16), _qkv(32, 2048, 2048, 64)),
    "recurrence": ("float32", {"a": (8, 50), "x": (8, 50)}, {"a": (1536, 16384), "x": (1536, 16384)}),
    "recurrence_long": ("float32", {"a": (6, 70), "x": (6, 70)}, {"a": (6144, 8192), "x": (6144, 8192)}),
    "delta_step": ("float32", _delta(2, 32, 32), _delta(2048, 128, 128)),
    "gather": ("bfloat16", {"table": (9, 300), "rows": (5,)}, {"table": (32768, 1024), "rows": (16384,)}),
    "sort": ("float32", {"x": (2, 32)}, {"x": (4096, 1024)}),
    "conv": ("bfloat16", {"x": (2, 40, 70), "w": (4, 70)}, {"x": (4, 4096, 2048), "w": (4, 2048)}),
}
WORKLOADS = [{"name": case, "case": case, "dtype": dtype, **small} for case, (dtype, small, _) in SHAPES.items()]
GPU_WORKLOADS = [{"name": case, "case": case, "dtype": dtype, **large} for case, (dtype, _, large) in SHAPES.items()]
