"""A launcher whose results follow from the tile, the number of tiles or the grid keeps its tile.

Each of these launchers gave other results after a rewrite once: the kernel did the same work, but the launcher did
something else with the new number.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skel.store.schema import Refusal

KERNEL = """import triton
import triton.language as tl


@triton.jit
def kernel(x, q, o, p, V, R, K: tl.constexpr, BV: tl.constexpr):
    i_v = tl.program_id(0)
    i_r = tl.program_id(1)
    o_v = i_v * BV + tl.arange(0, BV)
    b_q = tl.load(q + i_r * K + tl.arange(0, K))
    s = tl.sum(b_q / tl.sqrt(tl.sum(b_q * b_q)))
    b_x = tl.load(x + i_r * V + o_v, mask=o_v < V, other=0.0)
    tl.store(o + i_r * V + o_v, b_x * s, mask=o_v < V)


@triton.jit
def second(o, n):
    tl.store(o + tl.program_id(0), n)


def run(x, q, o, p, V, R):
"""
LAUNCH = "kernel[(NV, R)](x, q, o, p, V, R, K=16, BV=BV)"
NAMED = f"BV = 32; NV = triton.cdiv(V, BV); {LAUNCH}"
SLOTS = "    b_p = tl.sum(b_x * s)\n    tl.store(p + i_v * R + i_r, b_p)\n"


def text(*body: str, slots: bool = False) -> str:
    kernel = KERNEL.replace("b_x * s, mask=o_v < V)\n", f"b_x * s, mask=o_v < V)\n{SLOTS}") if slots else KERNEL
    return kernel + "".join(f"    {line}\n" for line in body)


FOLLOW = {
    "divides": [NAMED, "return o / NV"],
    "divides_again": [NAMED, "return o / triton.cdiv(V, BV)"],
    "names_it_again": ["n = R * triton.cdiv(V, BV)", "return o / n"],
    "names_it_as_well": ["BV = 32", "NV = n = triton.cdiv(V, BV)", LAUNCH, "return o / n"],
    "loops": [NAMED, "for _ in range(NV):", "    o = o + 1", "return o"],
    "branches": [NAMED, "if NV > 1:", "    o = o * 2", "return o"],
    "branches_before": ["BV = 32; NV = triton.cdiv(V, BV)", "if NV > 1:", "    x = x * 2", LAUNCH, "return o"],
    "derives": [NAMED, "w = 1.0 / NV", "return o * w"],
    "hands_on": [NAMED, "return finish(o, NV)"],
    "keeps": [NAMED, "STATE['n'] = NV", "return o"],
    "another_kernel": [NAMED, "second[(R,)](o, NV)", "return o"],
    "tile_named_twice": ["BV = W = 32", "NV = triton.cdiv(V, BV)", LAUNCH, "return o * W"],
    "grid_read": ["BV = 32", "grid = (triton.cdiv(V, BV), R)", LAUNCH.replace("(NV, R)", "grid"), "return o * grid[0]"],
    "grid_named_twice": [
        "BV = 32",
        "grid = g = (triton.cdiv(V, BV), R)",
        LAUNCH.replace("(NV, R)", "grid"),
        "return o * g[0]",
    ],
}
FOLLOW["names_it_again"].insert(0, NAMED)


@pytest.mark.parametrize("primitive", ["fuse_axis_widen", "split_tiles"])
@pytest.mark.parametrize("name", FOLLOW)
def test_results_that_follow_refuse(name: str, primitive: str, refusal: Callable[..., Refusal]) -> None:
    body = text(*FOLLOW[name])
    found = refusal(primitive, body, name="kernel")
    assert found.code == "tile_shared"
    assert any("NV" in line or "BV" in line or "grid" in line for line in _lines(body, found))


def _lines(body: str, found: Refusal) -> list[str]:
    return [body.splitlines()[n - 1] for n in found.lines]


@pytest.mark.parametrize("primitive", ["fuse_axis_widen", "fuse_axis_loop", "split_tiles"])
@pytest.mark.parametrize(
    ("grid", "after", "code"),
    [
        ("grid = lambda meta: (triton.cdiv(V, meta['BV']), R)", "return o * grid({'BV': 32})[0]", "tile_shared"),
        (
            "def grid(meta):\n        x.mul_(meta['BV'])\n        return (triton.cdiv(V, meta['BV']), R)",
            "return o",
            "unreadable_launch",
        ),
        ("BV = 32; grid = (triton.cdiv(V, BV), R)", "return o * locals()['BV']", "unreadable_launch"),
    ],
)
def test_grids_that_do_more(grid: str, after: str, code: str, primitive: str, refusal: Callable[..., Refusal]) -> None:
    launch = LAUNCH.replace("(NV, R)", "grid").replace("BV=BV", "BV=32" if "meta" in grid else "BV=BV")
    assert refusal(primitive, text(grid, launch, after), name="kernel").code == code


PARTIALS = ["BV = 32", "NV = triton.cdiv(V, BV)"]
SEEN = {
    "another_name": (["p = torch.zeros(NV, R)", "a = p"], "return p.sum(0), a.amax(0)"),
    "named_twice": (["p = a = torch.zeros(NV, R)"], "return p.sum(0), a.amax(0)"),
    "in_a_table": (["p = torch.zeros(NV, R)", "out = {'p': p}"], "return p.sum(0), out"),
    "its_length": (["p = torch.zeros(NV, R)", "n = len(p)"], "return p.sum(0) / n"),
    "its_shape": (["p = torch.zeros(NV, R)", "n = p.shape[0]"], "return p.sum(0) / n"),
}


@pytest.mark.parametrize("name", SEEN)
def test_partials_that_are_seen_otherwise_refuse(name: str, refusal: Callable[..., Refusal]) -> None:
    before, after = SEEN[name]
    found = refusal("fuse_axis_widen", text(*PARTIALS, *before, LAUNCH, after, slots=True), name="kernel")
    assert found.code == "partial_not_summed"


@pytest.mark.parametrize("primitive", ["fuse_axis_widen", "split_tiles"])
def test_a_buffer_with_a_place_a_tile_that_is_no_partial_refuses(
    primitive: str, refusal: Callable[..., Refusal]
) -> None:
    body = text(*PARTIALS, "e = torch.zeros(NV, R)", LAUNCH, "return o, e")
    assert refusal(primitive, body, name="kernel").code == "partial_not_summed"


def test_tiles_that_may_leave_a_rest_refuse(refusal: Callable[..., Refusal]) -> None:
    body = text("BV = 32", LAUNCH.replace("NV", "V // BV"), "return o")
    assert refusal("fuse_axis_widen", body, name="kernel", tile=64).code == "tile_must_divide"


@pytest.mark.parametrize(
    "body",
    [
        [NAMED, "return o"],
        ["BV = 32; NV = triton.cdiv(V, BV)", "assert NV > 0", LAUNCH, "return o"],
        ["BV = 32", "grid = (triton.cdiv(V, BV), R)", LAUNCH.replace("(NV, R)", "grid"), "return o"],
        ["BV = 32", "def grid(meta):", "    n = triton.cdiv(V, meta['BV'])", "    return (n, R)"],
    ],
)
def test_launchers_that_only_launch_are_rewritten(body: list[str], rewrite: Callable[..., list[str]]) -> None:
    launch = [] if any(LAUNCH.split("](")[1] in line for line in body) else [LAUNCH.replace("(NV, R)", "grid")]
    assert rewrite("fuse_axis_widen", text(*body, *launch), name="kernel") == [
        line.strip().replace("32", "triton.next_power_of_2(V)")
        for line in text(*body).splitlines()
        if "BV = 32" in line
    ]


def test_partials_summed_and_cleared_are_rewritten(rewrite: Callable[..., list[str]]) -> None:
    body = text(*PARTIALS, "p = torch.empty(NV, R)", "p.zero_()", LAUNCH, "p = p.sum(0)", "return o, p", slots=True)
    assert rewrite("fuse_axis_widen", body, name="kernel") == ["BV = triton.next_power_of_2(V)"]


@pytest.mark.parametrize("primitive", ["fuse_axis_widen", "split_tiles"])
@pytest.mark.parametrize(
    ("heuristic", "statement"),
    [
        ("args['BV'] > 32", "s = s * (2.0 if FLAG else 1.0)"),
        ("args['V'] % args['BV'] == 0", "if FLAG: s = s * 2.0"),
        ("args['V'] // args['BV']", "s = s * FLAG"),
    ],
)
def test_a_heuristic_that_reads_the_tile_and_changes_a_value_refuses(
    heuristic: str, statement: str, primitive: str, refusal: Callable[..., Refusal]
) -> None:
    body = text(NAMED, "return o").replace("BV: tl.constexpr)", "BV: tl.constexpr, FLAG: tl.constexpr)", 1)
    body = body.replace("@triton.jit", f'@triton.heuristics({{"FLAG": lambda args: {heuristic}}})\n@triton.jit', 1)
    body = body.replace("    tl.store(o + i_r", f"    {statement}\n    tl.store(o + i_r", 1)
    found = refusal(primitive, body, name="kernel")
    assert found.code == "tile_used_otherwise" and "FLAG" in found.message


@pytest.mark.parametrize("primitive", ["fuse_axis_widen", "split_tiles"])
def test_another_axis_in_tiles_of_the_same_size_refuses(primitive: str, refusal: Callable[..., Refusal]) -> None:
    body = text(NAMED, "return o")
    body = body.replace("b_x * s, mask", "b_x * s + tl.sum(i_r * BV + tl.arange(0, BV)), mask", 1)
    assert refusal(primitive, body, name="kernel").code == "tile_used_otherwise"


def test_a_heuristic_that_only_leaves_masks_out_is_no_obstacle(rewrite: Callable[..., list[str]]) -> None:
    body = text("BV = 32; NV = triton.cdiv(V, BV)", LAUNCH, "return o")
    body = body.replace("BV: tl.constexpr)", "BV: tl.constexpr, EVEN: tl.constexpr)", 1)
    even = '@triton.heuristics({"EVEN": lambda args: args["V"] % args["BV"] == 0})\n@triton.jit'
    body = body.replace("@triton.jit", even, 1)
    store = "    tl.store(o + i_r * V + o_v, b_x * s, mask=o_v < V)\n"
    arms = f"    if EVEN:\n    {store.replace(', mask=o_v < V', '')}    else:\n    {store}"
    assert store in body
    assert rewrite("fuse_axis_widen", body.replace(store, arms), name="kernel") == [
        "BV = triton.next_power_of_2(V); NV = triton.cdiv(V, BV)"
    ]
