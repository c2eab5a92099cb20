"""fuse_axis_widen: golden files of whole launchers, and its refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import LAUNCHER, source_of

TRAPS = Path(__file__).parents[2] / "traps"
STORE = "tl.store(y + i_b * V + o_v, b_v * c, mask=o_v < V)\n"


@pytest.mark.parametrize("name", ["u07_slot_summed", "u29_state_before_loop", "u33_text", "u38_positional_constexprs"])
def test_golden(name: str, assert_rewrite: Callable[..., str]) -> None:
    after = assert_rewrite("fuse_axis_widen", TRAPS / f"{name}.py", f"{name}.py")
    before = (TRAPS / f"{name}.py").read_bytes().decode()
    changed = [line for line in after.splitlines() if line not in before.splitlines()]
    assert len(changed) == 1 and "next_power_of_2(V)" in changed[0]


def test_a_number_caps_the_tile(assert_rewrite: Callable[..., str]) -> None:
    after = assert_rewrite("fuse_axis_widen", source_of(STORE), tile=32)
    assert "BV = 16\n" not in after and "32" in after


REFUSED = {
    "reduction": (STORE.replace("b_v * c", "b_v - tl.max(b_v, 0)"), LAUNCHER, "reduction_over_tile_axis", "tl.max"),
    "unmasked": (STORE.replace(", mask=o_v < V", ""), LAUNCHER, "non_pow2_unmasked", "tl.store"),
    "other_bound": (STORE.replace("mask=o_v < V", "mask=o_v < T"), LAUNCHER, "non_pow2_unmasked", "tl.store"),
    "shared_tile": (
        STORE,
        LAUNCHER.replace("    kernel[", "    y = torch.zeros(R, BV)\n    kernel["),
        "tile_shared",
        "torch.zeros",
    ),
    "count_as_argument": (
        STORE.replace("b_v * c", "b_v / NV"),
        LAUNCHER.replace("NV=1", "NV=triton.cdiv(V, BV)"),
        "tile_used_otherwise",
        "b_v / NV",
    ),
    "slots_not_summed": (
        STORE + "tl.store(s + i_v * R + i_b, tl.sum(b_v, 0))\n",
        LAUNCHER,
        "partial_not_summed",
        "tl.sum(b_v",
    ),
    "partial_of_another_length": (
        STORE + "tl.atomic_add(s + i_b, tl.sum(tl.where(o_v < T, b_v, 0.0), 0))\n",
        LAUNCHER,
        "nonlinear_partial",
        "atomic_add",
    ),
    "one_tensor_twice": (
        STORE + "tl.store(s + i_b, tl.load(k + i_b) + 1.0)\n",
        LAUNCHER.replace("](k, v, y, s,", "](k, v, y, k.view(-1),"),
        "inplace_not_separated",
        "tl.store(s",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusal(name: str, assert_rewrite: Callable[..., str]) -> None:
    body, launcher, code, line = REFUSED[name]
    assert_rewrite("fuse_axis_widen", source_of(body, launcher=launcher), refusal=(code, line))


SLOTS = """

def launch(k, v, y, s, R, T, V, K, FLAG):
    BV = 16
    NV = triton.cdiv(V, BV)
    s = torch.{allocate}
    kernel[(NV, R)](k, v, y, s, R, T, V, K=K, NV=1, FLAG=FLAG, BK=16, BV=BV)
    return {returned}
"""
SLOT = "tl.store(s + i_v * R + i_b, tl.sum(b_v, 0))\n"


@pytest.mark.parametrize(
    ("allocate", "returned"),
    [
        ("empty(NV, R)", "s.sum(0)"),
        ("empty((NV, R))", "s.sum(dim=0)"),
        ("zeros(triton.cdiv(V, BV), R)", "torch.sum(s, 0)"),
        ("empty(NV, R)", "s.sum((0, 1))"),
        ("empty(NV, R)", "s.sum(-2).to(y)"),
        ("empty(NV, R)", "s.sum()"),
    ],
)
def test_slots_summed_over_the_tiles(allocate: str, returned: str, assert_rewrite: Callable[..., str]) -> None:
    launcher = SLOTS.format(allocate=allocate, returned=returned)
    assert "next_power_of_2" in assert_rewrite("fuse_axis_widen", source_of(STORE + SLOT, launcher=launcher))


@pytest.mark.parametrize(
    ("allocate", "returned"),
    [
        ("empty(NV, R)", "s.sum(1)"),
        ("empty(NV, R)", "s.amax(0)"),
        ("empty(NV, R)", "s"),
        ("empty(NV, R)", "(s.sum(0), s)"),
        ("empty(8, R)", "s.sum(0)"),
        ("empty(NV, R)", "s[:2].sum(0)"),
    ],
)
def test_slots_read_otherwise(allocate: str, returned: str, assert_rewrite: Callable[..., str]) -> None:
    launcher = SLOTS.format(allocate=allocate, returned=returned)
    text = source_of(STORE + SLOT, launcher=launcher)
    assert_rewrite("fuse_axis_widen", text, refusal=("partial_not_summed", "tl.sum(b_v"))


FLAT = """
pid = tl.program_id(0)
i_v = pid % NV
i_b = pid // NV
o_k = tl.arange(0, BK)
c = tl.sum(tl.load(k + i_b * K + o_k, mask=o_k < K, other=0.0))
o_v = i_v * BV + tl.arange(0, BV)
b_v = tl.load(v + i_b * V + o_v, mask=o_v < V, other=0.0)
"""
COUNTED = """

CONFIG = dict(BV=16, num_warps=2)
TILE = 16


def launch(k, v, y, s, R, T, V, K, FLAG):
    {before}
    grid = lambda meta: (triton.cdiv(V, meta["BV"]) * R,)
    kernel[grid](k, v, y, s, R, T, V, K=K, NV=NV, FLAG=FLAG, BK=16, {tile})
"""


@pytest.mark.parametrize(("count", "tile"), [("CONFIG['BV']", "**CONFIG"), ("TILE", "BV=TILE"), ("16", "BV=16")])
def test_a_count_beside_a_grid_that_follows_its_argument(
    count: str, tile: str, assert_rewrite: Callable[..., str]
) -> None:
    launcher = COUNTED.format(before=f"NV = triton.cdiv(V, {count})", tile=tile)
    after = assert_rewrite("fuse_axis_widen", source_of(STORE, prologue=FLAT, launcher=launcher))
    assert "NV = triton.cdiv(V, triton.next_power_of_2(V))" in after


@pytest.mark.parametrize(
    ("before", "tile"),
    [
        ("BV = 16; NV = triton.cdiv(V, 16)", "BV=BV"),
        ("BV = 16; NV = (V + 15) // 16", "BV=BV"),
        ("BV = min(triton.next_power_of_2(V), 16); NV = triton.cdiv(V, min(triton.next_power_of_2(V), 16))", "BV=BV"),
        ("NV = 4", "BV=16"),
        ("NV = triton.cdiv(v.shape[-1], 16)", "BV=16"),
    ],
)
def test_a_count_that_would_stay_refuses(before: str, tile: str, assert_rewrite: Callable[..., str]) -> None:
    """The kernel takes its axis out of the program id by NV: with another tile that would be another axis."""
    text = source_of(STORE, prologue=FLAT, launcher=COUNTED.format(before=before, tile=tile))
    assert_rewrite("fuse_axis_widen", text, refusal=("grid_not_tied_to_tile", "kernel[grid]("))


def test_what_reads_the_old_tile_otherwise_refuses(assert_rewrite: Callable[..., str]) -> None:
    before = "NV = triton.cdiv(V, CONFIG['BV'])\n    s = s[: CONFIG['BV']]"
    launcher = COUNTED.format(before=before, tile="**CONFIG")
    text = source_of(STORE, prologue=FLAT, launcher=launcher)
    assert_rewrite("fuse_axis_widen", text, refusal=("tile_shared", "s = s[:"))
