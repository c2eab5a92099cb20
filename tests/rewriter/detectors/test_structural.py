"""Techniques of a kernel's schedule and its launcher: what shows each, and what only looks like it."""

from __future__ import annotations

import pytest

from tests.rewriter.detectors.looking import seen

TILES = """
@triton.jit
def kernel(q, v, out, V, K: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    {axis}
    o_k = tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    b_q = tl.load(q + o_k, mask=o_k < K, other=0.0)
    b_v = tl.load(v + o_v, mask=o_v < V, other=0.0)
    {work}
    tl.store(out + o_v, b_v, mask=o_v < V)


def run(q, v, out, V, K):
    {tile}
    kernel[{grid}](q, v, out, V, K=K, BK=64, BV=BV)
"""
NORM = "b_v = b_v * tl.sum(b_q * b_q)"


def tiles(
    work: str = NORM, axis: str = "i_v = tl.program_id(0)", tile: str = "BV = 32", grid: str = "(triton.cdiv(V, BV),)"
) -> tuple[set[str], set[str]]:
    return seen(TILES.format(work=work, axis=axis, tile=tile, grid=grid))


@pytest.mark.parametrize(
    ("work", "found"),
    [
        (NORM, True),
        ("b_v = b_v * tl.sum(b_v)", False),
        ("b_v = b_v * tl.exp(tl.load(q))", False),
        ("b_v = b_v * tl.sum(tl.exp(b_q))", True),
        ("if i_v == 0:\n        tl.store(out + V, tl.sum(b_q * b_q))", False),
    ],
)
def test_work_that_tiles_repeat(work: str, found: bool) -> None:
    assert ("fuse_vtiles" in tiles(work)[1]) is found


@pytest.mark.parametrize(
    ("tile", "single"),
    [
        ("BV = triton.next_power_of_2(V)", True),
        ("assert V <= 128\n    BV = min(triton.next_power_of_2(V), 256)", True),
        ("assert V <= 512\n    BV = min(triton.next_power_of_2(V), 256)", False),
        ("BV = min(triton.next_power_of_2(V), 256)", False),
    ],
)
def test_one_tile_is_a_use_and_no_opportunity(tile: str, single: bool) -> None:
    uses, opportunities = tiles(tile=tile)
    assert ("fuse_vtiles" in uses) is single and ("fuse_vtiles" in opportunities) is not single


@pytest.mark.parametrize(
    ("axis", "grid", "found"),
    [
        ("pid = tl.program_id(0)\n    i_v = pid % tl.cdiv(V, BV)", "(triton.cdiv(V, BV) * 4,)", True),
        ("i_v, i_b = decode(tl.cdiv(V, BV))", "(triton.cdiv(V, BV) * 4,)", True),
        ("i_v = tl.program_id(0)\n    i_b = tl.program_id(1) // 4", "(triton.cdiv(V, BV), 8)", False),
    ],
)
def test_decoded_tiles(axis: str, grid: str, found: bool) -> None:
    helper = """
@triton.jit
def decode(X, Y: tl.constexpr = None):
    pid = tl.program_id(0)
    if Y is None:
        return pid % X, pid // X
    else:
        return pid % X, (pid // X) % Y, pid // (X * Y)
"""
    text = helper + TILES.format(work="pass", axis=axis, tile="BV = 32", grid=grid)
    assert ("reorder_grid" in seen(text)[0]) is found


@pytest.mark.parametrize(("divisor", "found"), [("(V // BV)", True), ("(V // K)", False)])
def test_a_quotient_is_a_number_of_tiles_where_it_is_by_their_size(divisor: str, found: bool) -> None:
    axis = f"pid = tl.program_id(0)\n    i_k = pid % 8 // {divisor}\n    i_v = tl.program_id(1)"
    work = "b_v += tl.load(v + (V + i_k) * BK + o_k)"
    assert ("reorder_grid" in tiles(work=work, axis=axis, grid="(8, triton.cdiv(V, BV))")[0]) is found


def test_a_product_on_a_short_grid_axis() -> None:
    assert "reorder_grid" in tiles(grid="(triton.cdiv(V, BV), K * V)")[1]
    assert "reorder_grid" not in tiles(grid="(triton.cdiv(V, BV), V)")[1]


@pytest.mark.parametrize(
    ("tile", "found"),
    [
        ("BV = 8 if V * K < 4096 else 32", True),
        ("small = V < 64\n    BV = min(triton.next_power_of_2(V), 8 if small else 32)", True),
        ("BV = 8 if q is None else 32", False),
        ("BV = 32", False),
    ],
)
def test_narrowed_tiles(tile: str, found: bool) -> None:
    assert ("split_tiles" in tiles(tile=tile)[0]) is found


WORK = """
@triton.jit
def kernel(x, out, acc, n, K, PROGRAMS: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    o = tl.arange(0, BK)
    {body}


def run(x, out, acc, n, K, props):
    {setup}
    kernel[(PROGRAMS,)](x, out, acc, n, K, PROGRAMS=PROGRAMS, BK=64)
"""


def work(body: str, setup: str = "PROGRAMS = 132") -> tuple[set[str], set[str]]:
    return seen(WORK.format(body=body, setup=setup))


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("for w in range(pid, n, tl.num_programs(0)):\n        tl.store(out + w, w)", True),
        ("for w in tl.range(pid, n, PROGRAMS):\n        tl.store(out + w, w)", True),
        ("for w in range(pid * BK, n, BK):\n        tl.store(out + w, w)", False),
        ("for w in range(0, n, BK):\n        tl.store(out + w, w)", False),
    ],
)
def test_persistent_loops(body: str, found: bool) -> None:
    assert ("persistent_grid" in work(body)[0]) is found


def test_a_share_for_each_multiprocessor() -> None:
    body = "for w in range(pid * n, (pid + 1) * n):\n        tl.store(out + w, w)"
    assert "persistent_grid" in work(body, "PROGRAMS = min(props.multi_processor_count, K)")[0]
    assert "persistent_grid" not in work(body)[0]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (
            "s = 0.0\n    for k in range(pid * BK, K, BK * PROGRAMS):\n        s += tl.sum(tl.load(x + k + o))\n"
            "    tl.store(acc + pid * n, s)",
            True,
        ),
        ("s = tl.load(x + pid * BK + o)\n    tl.store(acc + pid * n, tl.sum(s))", True),
        ("s = tl.load(x + pid * BK + o)\n    tl.atomic_add(acc + o, s)", True),
        ("s = tl.load(x + pid * n + o)\n    tl.store(acc + pid * n, tl.sum(s))", False),
        ("tl.atomic_add(acc, 1)", False),
    ],
)
def test_shared_sums(body: str, found: bool) -> None:
    assert ("split_k" in work(body)[0]) is found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("count = tl.load(x + tl.program_id(1))\n    if pid < count:\n        tl.store(out + pid, 1)", True),
        ("if pid < n:\n        tl.store(out + pid, 1)", False),
        ("count = tl.load(x + tl.program_id(1))\n    if pid * BK < count:\n        tl.store(out + pid, 1)", False),
    ],
)
def test_guarded_axes(body: str, found: bool) -> None:
    assert ("parallelise_loop" in work(body)[0]) is found


def test_stages_of_configurations() -> None:
    tuned = (
        "@triton.autotune(configs=[triton.Config({{}}, num_warps=4, num_stages=s) for s in {stages}], key=[])\n"
        "@triton.jit\ndef kernel(x, n, BK: tl.constexpr):\n"
        "    for i in range(n):\n        tl.store(x + i * BK + tl.arange(0, BK), 1)\n"
    )
    assert "pipeline_loads" in seen(tuned.format(stages="[1, 2]"))[0]
    assert "pipeline_loads" not in seen(tuned.format(stages="[1]"))[0]
    without = tuned.format(stages="[1, 2]").replace("for i in range(n):", "if n > 0:").replace("i * BK + ", "")
    assert "pipeline_loads" not in seen(without)[0]


GENERAL = """
@triton.jit
def kernel({parameters}, T, K: tl.constexpr, B: tl.constexpr, BK: tl.constexpr):
    o = tl.arange(0, BK)
    for t in range(T):
        tl.store(out + t * K + o, tl.load(x + t * K + o) + B)


def run(x, out, w):
    {unpack}
    kernel[(1,)](x, out, T, K=K, B=B, BK=64)
"""


@pytest.mark.parametrize(
    ("unpack", "found"),
    [
        ("B, T, H, K = x.shape", True),
        ("T, K = x.shape\n    B = 3", False),
        ("T, B, H, K = x.shape", False),
        ("B, T = w.shape\n    K = 4", False),
    ],
)
def test_batches_as_constexpr(unpack: str, found: bool) -> None:
    assert ("relax_specialization" in seen(GENERAL.format(parameters="x, out", unpack=unpack))[1]) is found


COUNTS = """
@triton.jit
def kernel(counts, starts, E, BE: tl.constexpr):
    {program}
    o = tl.arange(0, BE)
    c = tl.load(counts + {row}o, mask=o < E, other=0)
    tl.store(starts + {row}o, c * tl.sum(c), mask=o < E)


def run(counts, starts, E):
    kernel[{grid}](counts, starts, E, BE=triton.next_power_of_2(E))
"""


@pytest.mark.parametrize(("grid", "found"), [("(1,)", False), ("(1, 1)", False), ("(B,)", True)])
def test_one_program_alone_shares_nothing_with_tiles(grid: str, found: bool) -> None:
    text = COUNTS.format(program="i = tl.program_id(0)", row="i * E + ", grid=grid)
    assert ("fuse_vtiles" in seen(text)[0]) is found
