"""Store classes along a tiled axis, and every reason against merging its tiles."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skel.rewriter.analysis.facts import Facts
from skel.rewriter.analysis.lanes import LaneReport

Y = "tl.store(y + i_b * V + o_v, {}, mask=o_v < V)\n"
CLASSES = {
    "lane": (Y.format("b_v * c"), "L"),
    "lane_of_a_matrix": (
        "p = y + i_b * K * V + o_k[:, None] * V + o_v[None, :]\n"
        "tl.store(p, b_k[:, None] * b_v[None, :], mask=(o_k < K)[:, None] & (o_v < V)[None, :])",
        "L",
    ),
    "transposed": (
        "h = tl.trans(b_k[:, None] * b_v[None, :])\n"
        "tl.store(y + o_v[:, None] * K + o_k[None, :], h, mask=(o_v < V)[:, None])",
        "L",
    ),
    "guarded": ("if i_v == 0:\n    tl.store(s + i_b, c)", "G"),
    "guarded_the_other_way_round": ("if 0 == i_v:\n    tl.store(s + i_b, c)", "G"),
    "guarded_below_one": ("if i_v < 1:\n    tl.store(s + i_b, c)", "G"),
    "guarded_up_to_zero": ("if i_v <= 0:\n    tl.store(s + i_b, c)", "G"),
    "guarded_with_more": ("if i_v == 0 and FLAG:\n    tl.store(s + i_b, c)", "G"),
    "guarded_by_a_mask": ("tl.store(s + i_b, c, mask=i_v == 0)", "G"),
    "invariant": ("tl.store(s + i_b, c)", "I"),
    "slot": ("tl.store(s + i_v * R + i_b, tl.sum(b_v, 0) * c)", "S"),
    "slot_by_the_number_of_tiles": ("tl.store(s + i_b * tl.cdiv(V, BV) + i_v, tl.sum(b_v, 0))", "S"),
    "slot_carried_through_a_loop": (
        "a = 0.0\nfor t in range(T):\n    a = a * c + tl.sum(b_v, 0)\ntl.store(s + i_v * R + i_b, a)",
        "S",
    ),
    "slot_of_a_dot": (
        "h = tl.load(s + o_v[:, None] * K + o_k[None, :], mask=(o_v < V)[:, None], other=0.0)\n"
        "tl.store(y + i_v * K + o_k, tl.sum(tl.dot(b_v[None, :], h), 0))",
        "S",
    ),
    "added": ("tl.atomic_add(s + i_b, tl.sum(b_v, 0))", "S"),
    "added_once": ("tl.atomic_add(s + i_b, tl.where(i_v == 0, c, 0.0))", "S"),
    "added_by_lane": ("tl.atomic_add(y + o_v, b_v, mask=o_v < V)", "L"),
    "flags": ("x = c\nif FLAG:\n    x = tl.exp(c)\nelse:\n    x = c * 2\n" + Y.format("b_v * x"), "L"),
    "time": (
        "p = v + i_b * V + o_v\nh = tl.zeros([BV], dtype=tl.float32)\nfor t in range(T):\n"
        "    h = h * c + tl.load(p, mask=o_v < V, other=0.0)\n    p += R * V\n" + Y.format("h"),
        "L",
    ),
    "kept_dimension": ("h = b_k[:, None] * b_v[None, :]\n" + Y.format("tl.reshape(tl.sum(h, 0, True), [BV])"), "L"),
}


@pytest.mark.parametrize("name", CLASSES)
def test_class(name: str, report: Callable[..., LaneReport]) -> None:
    body, wanted = CLASSES[name]
    found = report(body)
    assert "".join(str(c.store_class) for c in found.stores) == wanted, found.refusals
    assert not found.refusals
    assert found.verdict == ("linear_partials" if "S" in wanted else "separable")


REASONS = {
    "maximum": (Y.format("b_v - tl.max(b_v, 0)"), "reduction_over_tile_axis"),
    "own_sum": (Y.format("b_v / tl.sum(b_v, 0)"), "reduction_over_tile_axis"),
    "running_sum": (Y.format("tl.cumsum(b_v, 0)"), "reduction_over_tile_axis"),
    "flip_of_the_last_dimension": (
        Y.format("tl.sum(tl.flip(b_k[:, None] * b_v[None, :]), 0)"),
        "reduction_over_tile_axis",
    ),
    "sorted": (Y.format("tl.sort(b_v)"), "reduction_over_tile_axis"),
    "guarded_sum": ("if i_v == 0:\n    tl.store(s + i_b, tl.sum(b_v, 0))", "reduction_over_tile_axis"),
    "guarded_slot": ("if i_v == 0:\n    tl.store(s + i_v * R + i_b, tl.sum(b_v, 0))", "axis_used_otherwise"),
    "guarded_lanes": ("if i_v == 0:\n    " + Y.format("b_v"), "axis_used_otherwise"),
    "guard_and_tile": ("if i_v == 0 and BV > 16:\n    tl.store(s + i_b, c)", "tile_used_otherwise"),
    "nonlinear_slot": ("tl.store(s + i_v * R + i_b, tl.exp(tl.sum(b_v, 0)))", "nonlinear_partial"),
    "slot_plus_constant": ("tl.store(s + i_v * R + i_b, tl.sum(b_v, 0) + 1.0)", "nonlinear_partial"),
    "slot_of_padding": ("tl.store(s + i_v * R + i_b, tl.sum(b_v + 1.0, 0))", "nonlinear_partial"),
    "slot_cut_to_integers": ("tl.store(s + i_v * R + i_b, tl.sum(b_v, 0).to(tl.int32))", "nonlinear_partial"),
    "slot_of_products": ("a = tl.sum(b_v, 0)\ntl.store(s + i_v * R + i_b, a * a)", "nonlinear_partial"),
    "one_hot_counts_lanes": (
        "tl.atomic_add(s + i_b, tl.sum(tl.where((i_v == 0) & (o_v < V), c, 0.0), 0))",
        "nonlinear_partial",
    ),
    "unguarded": ("tl.store(s + i_b, tl.load(v + i_v))", "unguarded_invariant_store"),
    "index_in_value": (Y.format("b_v * i_v"), "axis_used_otherwise"),
    "index_in_mask": ("tl.store(y + i_b * V + o_v, b_v, mask=(o_v < V) & (i_v < 3))", "axis_used_otherwise"),
    "index_in_branch": ("if i_v > 0:\n    b_v = b_v * 2\n" + Y.format("b_v"), "axis_used_otherwise"),
    "tile_in_value": (Y.format("b_v / BV"), "tile_used_otherwise"),
    "tile_by_shape": (Y.format("b_v / b_v.shape[0]"), "tile_used_otherwise"),
    "tile_in_branch": ("if BV > 16:\n    " + Y.format("b_v"), "tile_used_otherwise"),
    "tile_in_loop": ("for i in range(BV):\n    b_v = b_v * 0.5\n" + Y.format("b_v"), "tile_used_otherwise"),
    "scan_of_equal_lanes": (
        "e = tl.zeros([BV], dtype=tl.float32) + c\n" + Y.format("b_v * tl.cumsum(e, 0)"),
        "tile_used_otherwise",
    ),
    "scan_of_equal_lanes_in_a_loop": (
        "e = tl.zeros([BV], dtype=tl.float32)\nfor t in range(T):\n    e = e * 0.5 + c\n    b_v += tl.cumsum(e, 0)\n"
        + Y.format("b_v"),
        "tile_used_otherwise",
    ),
    "sum_of_equal_lanes_in_another_shape": (
        "e = tl.reshape(tl.zeros([BV], dtype=tl.float32) + c, (BV // 2, 2))\n" + Y.format("b_v * tl.sum(tl.sum(e, 0))"),
        "tile_used_otherwise",
    ),
    "product_of_equal_lanes": (
        "e = tl.dot(tl.zeros([16, BV], dtype=tl.float32) + c, tl.zeros([BV, 16], dtype=tl.float32) + c)\n"
        + Y.format("b_v * tl.max(e)"),
        "tile_used_otherwise",
    ),
    "lane_number": (Y.format("b_v + tl.load(s + tl.arange(0, BV))"), "tile_used_otherwise"),
    "number_of_tiles": (Y.format("b_v / tl.cdiv(V, BV)"), "tile_used_otherwise"),
    "exit_by_tile": ("if BV > 16:\n    return\n" + Y.format("b_v"), "tile_used_otherwise"),
    "exit_by_index": ("if i_v > 1:\n    return\n" + Y.format("b_v"), "tile_dependent_exit"),
    "exit_of_the_first": ("if i_v == 0:\n    return\n" + Y.format("b_v"), "tile_dependent_exit"),
    "added_invariant": ("tl.atomic_add(s + i_b, c)", "atomic_invariant"),
    "largest": ("tl.atomic_max(s + i_b, c)", "atomic_not_separated"),
    "swapped": ("tl.atomic_cas(s + i_b, 0, 1)", "atomic_not_separated"),
    "programs": (Y.format("b_v * tl.num_programs(0)"), "grid_barrier"),
    "pairs": (
        "tl.store(y + o_v[:, None] * V + o_v[None, :], b_v[:, None] * b_v[None, :], mask=(o_v < V)[:, None])",
        "lane_order_unknown",
    ),
    "reshaped": (Y.format("tl.reshape(tl.trans(tl.reshape(b_v, [2, 8])), [BV])"), "lane_order_unknown"),
    "reread_scalar": ("a = tl.load(s + i_b)\ntl.store(s + i_b, a + 1.0)", "inplace_not_separated"),
    "reread_in_the_branch": ("if tl.load(s + i_b) > 0:\n    tl.store(s + i_b, -1.0)", "inplace_not_separated"),
    "reread_in_the_mask": ("tl.store(s + i_b, -1.0, mask=tl.load(s + i_b) > 0)", "inplace_not_separated"),
    "shifted": (
        "tl.store(y + o_v, tl.load(y + o_v + 1, mask=o_v < V, other=0.0), mask=o_v < V)",
        "inplace_not_separated",
    ),
    "unknown_function": (Y.format("b_v * elsewhere()"), "axis_used_otherwise"),
    "unknown_function_with_memory": ("elsewhere(y)\n" + Y.format("b_v"), "opaque_call"),
    "loop_left_early": ("for t in range(T):\n    if c > 0:\n        break\n" + Y.format("b_v"), "unknown_construct"),
}


@pytest.mark.parametrize("name", REASONS)
def test_reason(name: str, codes: Callable[..., set[str]]) -> None:
    body, wanted = REASONS[name]
    assert wanted in codes(body)


def test_what_follows_from_the_number_of_tiles_is_not_used(codes: Callable[..., set[str]]) -> None:
    assert codes(Y.format("b_v / NV")) == set()
    assert codes(Y.format("b_v / NV"), derived=["NV"]) == {"tile_used_otherwise"}
    assert codes("tl.store(s + i_b * NV + i_v, tl.sum(b_v, 0))", derived=["NV"]) == set()


PICK = "@triton.jit\ndef pick(x, i):\n    if i > 0:\n        return x * 2.0\n    return x\n\n\n"
PUT = "@triton.jit\ndef put(p, x, m):\n    tl.store(p, x, mask=m)\n\n\n"
NUMBER = "@triton.jit\ndef number(axis: tl.constexpr):\n    return tl.program_id(axis)\n\n\n"


def test_helpers_are_followed(classes: Callable[..., str], codes: Callable[..., set[str]]) -> None:
    assert classes("put(y + i_b * V + o_v, b_v * c, o_v < V)", helpers=PUT) == "L"
    assert classes("put(s + i_b, tl.sum(b_v, 0), i_b < R)", helpers=PUT) == "R"
    assert codes(Y.format("pick(b_v, i_v)"), helpers=PICK) == {"axis_used_otherwise"}
    assert codes(Y.format("pick(b_v, i_b)"), helpers=PICK) == set()


def test_program_ids_are_followed_through_a_helper(codes: Callable[..., set[str]]) -> None:
    prologue = """
i_v, i_b = number(0), number(1)
o_v = i_v * BV + tl.arange(0, BV)
b_v = tl.load(v + i_b * V + o_v, mask=o_v < V, other=0.0)
"""
    assert codes(Y.format("b_v"), prologue=prologue, helpers=NUMBER) == set()
    assert codes(Y.format("b_v * i_v"), prologue=prologue, helpers=NUMBER) == {"axis_used_otherwise"}
    assert codes(Y.format("b_v * i_b"), prologue=prologue, helpers=NUMBER) == set()


FLAT = """
pid = tl.program_id(0)
n = tl.cdiv(V, BV)
i_v = pid % n
i_b = pid // n
o_v = i_v * BV + tl.arange(0, BV)
b_v = tl.load(v + i_b * V + o_v, mask=o_v < V, other=0.0)
"""


def test_flattened_ids(classes: Callable[..., str], codes: Callable[..., set[str]]) -> None:
    assert classes(Y.format("b_v") + "if pid == 0:\n    tl.store(s, 1.0)", prologue=FLAT) == "LG"
    assert classes("tl.store(s + i_b, 1.0)\n" + Y.format("b_v * i_b"), prologue=FLAT) == "IL"
    assert codes(Y.format("b_v * pid"), prologue=FLAT) == {"axis_used_otherwise"}
    assert codes(Y.format("b_v * n"), prologue=FLAT) == {"tile_used_otherwise"}


BLOCK = """
i_v, i_b = tl.program_id(0), tl.program_id(1)
p = tl.make_block_ptr(v + i_b * V, (V,), (1,), (i_v * BV,), (BV,), (0,))
q = tl.make_block_ptr(y + i_b * V, (V,), (1,), ({},), (BV,), (0,))
b_v = tl.load(p, boundary_check=(0,))
"""


def test_block_pointers(report: Callable[..., LaneReport], codes: Callable[..., set[str]]) -> None:
    checked = report("tl.store(q, b_v, boundary_check=(0,))", prologue=BLOCK.format("i_v * BV"))
    assert checked.verdict == "separable" and not checked.uncovered
    unchecked = report("tl.store(q, b_v)", prologue=BLOCK.format("i_v * BV"))
    assert [a.kind for a in unchecked.uncovered] == ["store"]
    assert codes("tl.store(q, b_v, boundary_check=(0,))", prologue=BLOCK.format("(i_v + 1) * BV"))


@pytest.mark.parametrize("mask", ["o_v < V", "V > o_v", "o_v <= V - 1", "(o_v < V) & (c > 0)", "o_v + 1 < V + 1"])
def test_masks_that_cover(mask: str, report: Callable[..., LaneReport]) -> None:
    found = report(f"tl.store(y + i_b * V + o_v, b_v, mask={mask})")
    assert not found.uncovered
    store = found.stores[0].access
    assert {limit for _, limit in store.covered} == {"V"}


@pytest.mark.parametrize("mask", ["o_k < K", "(o_v < V) | (c > 0)", "o_v > 3", "o_v != V"])
def test_masks_that_do_not_cover(mask: str, report: Callable[..., LaneReport]) -> None:
    found = report(f"tl.store(y + i_b * V + o_v, b_v, mask={mask})")
    assert len(found.uncovered) == 1


def test_arms_of_another_rank_are_split(facts: Callable[..., Facts]) -> None:
    found = facts(
        """
        if FLAG:
            p = y + o_v[:, None] * K + o_k[None, :]
            h = b_v[:, None] * b_k[None, :]
            m = (o_v < V)[:, None] & (o_k < K)[None, :]
        else:
            p = y + o_k[:, None] * V + o_v[None, :]
            h = b_k[:, None] * b_v[None, :]
            m = (o_k < K)[:, None] & (o_v < V)[None, :]
        tl.store(p, h, mask=m)
        """
    )
    assert found.split == ("FLAG",) and len(found.runs) == 2


def test_two_tilings_of_one_axis_are_seen(facts: Callable[..., Facts]) -> None:
    found = facts("o_w = i_v * K + tl.arange(0, K)\nx = tl.load(s + o_w % 7)\n" + Y.format("b_v + tl.sum(x)"))
    (axis,) = found.tiled_axes
    assert found.tile_sizes(axis) == ("BV", "K")


ARMS = """if FLAG:
    h = tl.load(y + o_v * K, mask=o_v < V, other=0.0)
else:
    h = tl.load(y + o_v, mask=o_v < V, other=0.0)
"""


def test_arms_of_one_flag_do_not_meet(codes: Callable[..., set[str]]) -> None:
    apart = (
        "if FLAG:\n    tl.store(y + o_v * K, h * c, mask=o_v < V)\nelse:\n    tl.store(y + o_v, h * c, mask=o_v < V)\n"
    )
    assert "inplace_not_separated" not in codes(ARMS + apart)
    assert "inplace_not_separated" in codes(ARMS + "tl.store(y + o_v, h * c, mask=o_v < V)\n")
    crossed = apart.replace("if FLAG", "if not FLAG")
    assert "inplace_not_separated" in codes(ARMS + crossed)
