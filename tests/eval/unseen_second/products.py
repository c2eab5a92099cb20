"""Matrix products: grouped, persistent, split, quantised, fused."""

import itertools

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def _configs():
    return [triton.Config({"BM": bm, "BN": bn, "BK": 32, "GROUP": 8}, num_stages=s, num_warps=w)
            for (bm, bn), s, w in itertools.product([(64, 64), (128, 128)], [3, 4], [4, 8])]


@triton.jit
def _leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.autotune(configs=_configs(), key=["M", "N", "K"])
@triton.jit
def tiled_product(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACT: tl.constexpr):
    pid = tl.program_id(axis=0)
    grid_m = tl.cdiv(M, BM)
    grid_n = tl.cdiv(N, BN)
    in_group = GROUP * grid_n
    gid = pid // in_group
    first = gid * GROUP
    size = min(grid_m - first, GROUP)
    pid_m = first + ((pid % in_group) % size)
    pid_n = (pid % in_group) // size
    rm = (pid_m * BM + tl.arange(0, BM)) % M
    rn = (pid_n * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * stride_am + rk[None, :] * stride_ak
    b_ptrs = b_ptr + rk[:, None] * stride_bk + rn[None, :] * stride_bn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=rk[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    if ACT == "leaky":
        acc = _leaky(acc)
    cm = pid_m * BM + tl.arange(0, BM)
    cn = pid_n * BN + tl.arange(0, BN)
    tl.store(c_ptr + stride_cm * cm[:, None] + stride_cn * cn[None, :], acc.to(tl.float16),
             mask=(cm[:, None] < M) & (cn[None, :] < N))


@triton.jit
def _tile_of(t, in_group, grid_m, GROUP: tl.constexpr):
    first = (t // in_group) * GROUP
    size = tl.minimum(grid_m - first, GROUP)
    return first + (t % size), (t % in_group) // size


@triton.jit
def resident_product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                     GROUP: tl.constexpr, SMS: tl.constexpr):
    start = tl.program_id(0)
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    grid_m = tl.cdiv(M, BM)
    grid_n = tl.cdiv(N, BN)
    for t in tl.range(start, grid_m * grid_n, SMS, flatten=True):
        tile_m, tile_n = _tile_of(t, GROUP * grid_n, grid_m, GROUP)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(tl.cdiv(K, BK)):
            a = a_desc.load([tile_m * BM, k * BK])
            b = b_desc.load([tile_n * BN, k * BK])
            acc = tl.dot(a, b.T, acc)
        c_desc.store([tile_m * BM, tile_n * BN], acc.to(c_ptr.dtype.element_ty))


@triton.heuristics({"EVEN": lambda args: args["K"] % (args["BK"] * args["PARTS"]) == 0})
@triton.jit
def parted_product(A, B, C, M, N, K, sam, sak, sbk, sbn, scm, scn, ALLOW_TF32: tl.constexpr,
                   BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PARTS: tl.constexpr, EVEN: tl.constexpr):
    pid = tl.program_id(0)
    z = tl.program_id(1)
    n_tiles = tl.cdiv(N, BN)
    pm = pid // n_tiles
    pn = pid % n_tiles
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    ram = tl.max_contiguous(tl.multiple_of(rm % M, BM), BM)
    rbn = tl.max_contiguous(tl.multiple_of(rn % N, BN), BN)
    rk = z * BK + tl.arange(0, BK)
    A = A + (ram[:, None].to(tl.int64) * sam + rk[None, :] * sak)
    B = B + (rk[:, None] * sbk + rbn[None, :].to(tl.int64) * sbn)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK * PARTS)):
        if EVEN:
            a = tl.load(A)
            b = tl.load(B)
        else:
            left = K - k * (BK * PARTS)
            a = tl.load(A, mask=rk[None, :] < left, other=0)
            b = tl.load(B, mask=rk[:, None] < left, other=0)
        acc += tl.dot(a, b, allow_tf32=ALLOW_TF32)
        A += BK * PARTS * sak
        B += BK * PARTS * sbk
    where = C + rm[:, None].to(tl.int64) * scm + rn[None, :] * scn
    inside = (rm < M)[:, None] & (rn < N)[None, :]
    if PARTS == 1:
        tl.store(where, acc.to(C.dtype.element_ty), mask=inside)
    else:
        tl.atomic_add(where, acc.to(C.dtype.element_ty), mask=inside)


@triton.jit
def work_share_product(A, B, C, M, N, K, lda, ldb, ldc, total_iters, iters_per_tile, iters_each,
                       BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    it = pid * iters_each
    stop = tl.minimum(it + iters_each, total_iters)
    while it < stop:
        tile = it // iters_per_tile
        upto = tl.minimum(stop, (tile + 1) * iters_per_tile)
        n_tiles = tl.cdiv(N, BN)
        rm = ((tile // n_tiles) * BM + tl.arange(0, BM)).to(tl.int64)
        rn = ((tile % n_tiles) * BN + tl.arange(0, BN)).to(tl.int64)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(it % iters_per_tile, it % iters_per_tile + upto - it):
            rk = k * BK + tl.arange(0, BK)
            a = tl.load(A + rm[:, None] * lda + rk[None, :])
            b = tl.load(B + rk[:, None] * ldb + rn[None, :])
            acc += tl.dot(a, b)
        tl.atomic_add(C + rm[:, None] * ldc + rn[None, :], acc, sem="relaxed")
        it = upto


def _fits(configs, named_args, **kwargs):
    m = named_args["M"]
    return [c for c in configs if c.kwargs["BM"] <= max(16, triton.next_power_of_2(m))]


@triton.autotune(
    configs=[triton.Config({"BM": bm, "BN": 64, "BK": 64}, num_warps=4, num_stages=st) for bm in (16, 32, 64) for st in (2, 4)],
    key=["N", "K"], prune_configs_by={"early_config_prune": _fits})
@triton.jit(do_not_specialize=["M"])
def int4_product(x, packed, scales, zeros, y, M, N: tl.constexpr, K: tl.constexpr, GROUP_SIZE: tl.constexpr,
                 BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_n = tl.program_id(0)
    pid_m = tl.program_id(1)
    m = (pid_m * BM + tl.arange(0, BM)).to(tl.int64)
    n = pid_n * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    shift = (k % 8) * 4
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        a = tl.load(x + m[:, None] * K + (k0 + k)[None, :], mask=m[:, None] < M, other=0.0)
        word = tl.load(packed + ((k0 + k) // 8)[:, None] * N + n[None, :])
        grp = k0 // GROUP_SIZE
        s = tl.load(scales + grp * N + n)
        z = tl.load(zeros + grp * N + n)
        w = (((word >> shift[:, None]) & 0xF) - z[None, :]) * s[None, :]
        acc = tl.dot(a, w.to(a.dtype), acc)
    tl.store(y + m[:, None] * N + n[None, :], acc.to(y.dtype.element_ty), mask=m[:, None] < M)


@triton.jit
def block_scaled_product(A, B, C, As, Bs, M, N, K, stride_am, stride_bn, stride_cm, stride_as, stride_bs,
                         GROUP_N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP_M: tl.constexpr):
    pid = tl.program_id(0)
    num_m = tl.cdiv(M, BM)
    num_n = tl.cdiv(N, BN)
    per = GROUP_M * num_n
    first_m = (pid // per) * GROUP_M
    height = min(num_m - first_m, GROUP_M)
    pid_m = first_m + (pid % height)
    pid_n = (pid % per) // height
    am = (pid_m * BM + tl.arange(0, BM)) % M
    bn = (pid_n * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    a_ptrs = A + am[:, None] * stride_am + k[None, :]
    b_ptrs = B + bn[None, :] * stride_bn + k[:, None]
    as_ptrs = As + am * stride_as
    bs_ptrs = Bs + (bn // GROUP_N) * stride_bs
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=k[None, :] < K - step * BK, other=0.0)
        b = tl.load(b_ptrs, mask=k[:, None] < K - step * BK, other=0.0)
        sa = tl.load(as_ptrs + step)
        sb = tl.load(bs_ptrs + step)
        acc += tl.dot(a, b) * sa[:, None] * sb[None, :]
        a_ptrs += BK
        b_ptrs += BK
    cm = pid_m * BM + tl.arange(0, BM)
    cn = pid_n * BN + tl.arange(0, BN)
    tl.store(C + cm[:, None] * stride_cm + cn[None, :], acc.to(C.dtype.element_ty), mask=(cm[:, None] < M) & (cn[None, :] < N))


@triton.jit
def router_scores(x, w, out, tokens, experts, HID: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BH: tl.constexpr):
    t = (tl.program_id(0) * BT + tl.arange(0, BT)).to(tl.int64)
    e = tl.program_id(1) * BE + tl.arange(0, BE)
    acc = tl.zeros((BT, BE), tl.float32)
    for h0 in range(0, HID, BH):
        h = h0 + tl.arange(0, BH)
        a = tl.load(x + t[:, None] * HID + h[None, :], mask=t[:, None] < tokens, other=0.0).to(tl.float32)
        b = tl.load(w + e[None, :] * HID + h[:, None]).to(tl.float32)
        acc += tl.dot(a, b)
    tl.store(out + t[:, None] * experts + e[None, :], acc, mask=t[:, None] < tokens)


@triton.jit
def norm_then_linear(x, gamma, w, out, rows, N, eps, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    sq = tl.zeros((BM,), dtype=tl.float32)
    for k0 in tl.range(0, K, BK, num_stages=3):
        k = k0 + tl.arange(0, BK)
        a = tl.load(x + m[:, None] * K + k[None, :], mask=m[:, None] < rows, other=0.0)
        af = a.to(tl.float32)
        sq += tl.sum(af * af, 1)
        g = tl.load(gamma + k)
        b = tl.load(w + k[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
        acc += tl.dot(a * g[None, :], b)
    acc = acc * tl.rsqrt(sq / K + eps)[:, None]
    tl.store(out + m[:, None] * N + n[None, :], acc.to(out.dtype.element_ty), mask=(m[:, None] < rows) & (n[None, :] < N))


@triton.jit
def gated_down_product(gu, w, out, rows, N, INTER: tl.constexpr, ACT_IN_KERNEL: tl.constexpr, PREC: tl.constexpr,
                       BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = (tl.program_id(1) * BM + tl.arange(0, BM)).to(tl.int64)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    FULL: tl.constexpr = INTER // BK
    for i in range(FULL):
        kk = i * BK + k
        a = tl.load(gu + m[:, None] * (2 * INTER) + kk[None, :], mask=m[:, None] < rows, other=0.0)
        if ACT_IN_KERNEL:
            u = tl.load(gu + m[:, None] * (2 * INTER) + INTER + kk[None, :], mask=m[:, None] < rows, other=0.0)
            a = (a * tl.sigmoid(a.to(tl.float32)) * u).to(u.dtype)
        b = tl.load(w + kk[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
        acc = tl.dot(a, b, acc, input_precision=PREC)
    if INTER % BK != 0:
        kk = FULL * BK + k
        last = kk < INTER
        a = tl.load(gu + m[:, None] * (2 * INTER) + kk[None, :], mask=(m[:, None] < rows) & last[None, :], other=0.0)
        if ACT_IN_KERNEL:
            u = tl.load(gu + m[:, None] * (2 * INTER) + INTER + kk[None, :], mask=(m[:, None] < rows) & last[None, :], other=0.0)
            a = (a * tl.sigmoid(a.to(tl.float32)) * u).to(u.dtype)
        b = tl.load(w + kk[:, None] * N + n[None, :], mask=last[:, None] & (n[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision=PREC)
    tl.store(out + m[:, None] * N + n[None, :], acc.to(out.dtype.element_ty), mask=(m[:, None] < rows) & (n[None, :] < N))


@triton.jit
def expert_product(a_ptr, b_desc, c_ptr, sorted_ids, expert_ids, n_padded, topk_w, N, K, n_valid, stride_am, stride_cm, topk,
                   MUL_WEIGHT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    width = tl.cdiv(N, BN)
    pm = pid // width
    pn = pid % width
    if pm * BM >= tl.load(n_padded):
        return
    ids = tl.load(sorted_ids + pm * BM + tl.arange(0, BM)).to(tl.int64)
    ok = ids < n_valid
    e = tl.load(expert_ids + pm)
    k = tl.arange(0, BK)
    tl.extra.cuda.gdc_wait()
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        a = tl.load(a_ptr + (ids // topk)[:, None] * stride_am + (k0 + k)[None, :], mask=ok[:, None], other=0.0)
        b = b_desc.load([e * N + pn * BN, k0])
        acc += tl.dot(a, b.T)
    tl.extra.cuda.gdc_launch_dependents()
    if MUL_WEIGHT:
        acc *= tl.load(topk_w + ids, mask=ok, other=0.0)[:, None]
    n = pn * BN + tl.arange(0, BN)
    tl.store(c_ptr + ids[:, None] * stride_cm + n[None, :], acc.to(c_ptr.dtype.element_ty), mask=ok[:, None] & (n[None, :] < N))


def product(a, b, act=""):
    M, K = a.shape
    N = b.shape[1]
    c = torch.empty(M, N, device=a.device, dtype=torch.float16)
    tiled_product[lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), ACT=act)
    return c


def product_resident(a, b):
    sms = torch.cuda.get_device_properties(a.device).multi_processor_count
    c = torch.empty(a.shape[0], b.shape[0], device=a.device, dtype=a.dtype)
    resident_product[(min(sms, triton.cdiv(a.shape[0], 128) * triton.cdiv(b.shape[0], 128)),)](
        a, b, c, a.shape[0], b.shape[0], a.shape[1], BM=128, BN=128, BK=64, GROUP=8, SMS=sms, num_stages=4, num_warps=8)
    return c


def product_parted(a, b, parts):
    M, K = a.shape
    N = b.shape[1]
    c = torch.zeros(M, N, device=a.device, dtype=a.dtype)
    parted_product[(triton.cdiv(M, 64) * triton.cdiv(N, 64), parts)](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), torch.backends.cuda.matmul.allow_tf32,
        BM=64, BN=64, BK=32, PARTS=parts, num_stages=4)
    return c


def product_shared(a, b, sms):
    M, K = a.shape
    N = b.shape[1]
    c = torch.zeros(M, N, device=a.device)
    each_tile = triton.cdiv(K, 32)
    total = each_tile * (M // 128) * (N // 128)
    work_share_product[(sms,)](a, b, c, M, N, K, a.stride(0), b.stride(0), c.stride(0), total, each_tile,
                               triton.cdiv(total, sms), BM=128, BN=128, BK=32, num_stages=1)
    return c


def linear_int4(x, packed, scales, zeros, group):
    M, K = x.shape
    N = scales.shape[1]
    y = torch.empty(M, N, device=x.device, dtype=x.dtype)
    int4_product[lambda meta: (N // meta["BN"], triton.cdiv(M, meta["BM"]))](x, packed, scales, zeros, y, M, N, K, group)
    return y


def linear_fp8(a, b, sa, sb):
    M, K = a.shape
    N = b.shape[0]
    c = torch.empty(M, N, device=a.device, dtype=torch.bfloat16)
    cfg = {"BM": 64, "BN": 128, "BK": 128, "GROUP_M": 32, "num_warps": 4, "num_stages": 3}
    block_scaled_product[(triton.cdiv(M, cfg["BM"]) * triton.cdiv(N, cfg["BN"]),)](
        a, b, c, sa, sb, M, N, K, a.stride(0), b.stride(0), c.stride(0), sa.stride(0), sb.stride(0), GROUP_N=128, **cfg)
    return c


def route(x, w):
    tokens, hid = x.shape
    experts = w.shape[0]
    out = torch.empty(tokens, experts, device=x.device)
    be = 64
    if triton.cdiv(tokens, 32) * (experts // be) < 132:
        be = 16
    router_scores[(triton.cdiv(tokens, 32), experts // be)](x, w, out, tokens, experts, HID=hid, BT=32, BE=be, BH=64)
    return out


def linear_of_norm(x, gamma, w, eps):
    out = torch.empty(x.shape[0], w.shape[1], device=x.device, dtype=x.dtype)
    norm_then_linear[(triton.cdiv(x.shape[0], 64), triton.cdiv(w.shape[1], 128))](
        x, gamma, w, out, x.shape[0], w.shape[1], eps, K=x.shape[1], BM=64, BN=128, BK=64)
    return out


def down(gu, w, fused):
    inter = w.shape[0]
    out = torch.empty(gu.shape[0], w.shape[1], device=gu.device, dtype=gu.dtype)
    gated_down_product[(triton.cdiv(w.shape[1], 128), triton.cdiv(gu.shape[0], 64))](
        gu, w, out, gu.shape[0], w.shape[1], INTER=inter, ACT_IN_KERNEL=fused, PREC="tf32", BM=64, BN=128, BK=64)
    return out


def experts(a, w, ids, eids, padded, tw, topk):
    E, N, K = w.shape
    out = torch.empty(tw.numel(), N, device=a.device, dtype=a.dtype)
    desc = TensorDescriptor(w.view(E * N, K), [E * N, K], [K, 1], [64, 64])
    expert_product[(triton.cdiv(ids.numel(), 64) * triton.cdiv(N, 64),)](
        a, desc, out, ids, eids, padded, tw, N, K, tw.numel(), a.stride(0), out.stride(0), topk, True,
        BM=64, BN=64, BK=64, launch_pdl=True)
    return out
