"""split_tiles: how the launcher's tile is capped, and what stands against more tiles."""

from collections.abc import Callable

import pytest

KERNEL = """import triton
import triton.language as tl

@triton.jit
def kernel(x, y, D, BD: tl.constexpr):
    i = tl.program_id(0)
    o = i * BD + tl.arange(0, BD)
    m = o < D
    {body}


def run(x, BD=None):
    D = x.shape[0]
    y = x.new_empty(D)
    {tile}
    kernel[(triton.cdiv(D, BD),)](x, y, D, BD=BD)
    return y
"""
BODY = "tl.store(y + o, tl.load(x + o, mask=m, other=0.0), mask=m)"


def text(*body: str, tile: str = "BD = triton.next_power_of_2(D)") -> str:
    return KERNEL.format(body="\n    ".join(body or [BODY]), tile=tile)


@pytest.mark.parametrize(
    ("tile", "after"),
    [
        ("BD = triton.next_power_of_2(D)", "BD = min(16, triton.next_power_of_2(D))"),
        ("BD = min(128, triton.next_power_of_2(D))", "BD = min(16, triton.next_power_of_2(D))"),
        ("BD = min(triton.next_power_of_2(D), 64)", "BD = min(triton.next_power_of_2(D), 16)"),
        ("BD = max(16, triton.next_power_of_2(D))", "BD = max(16, min(16, triton.next_power_of_2(D)))"),
        ("BD = 64 if D > 9 else 32", "BD = 16 if D > 9 else 16"),
        ("BD = 256", "BD = 16"),
    ],
)
def test_the_assignment_is_capped(rewrite: Callable[..., list[str]], tile: str, after: str) -> None:
    assert rewrite("split_tiles", text(tile=tile)) == [after]


@pytest.mark.parametrize(
    ("tile", "code"),
    [
        ("BD = min(16, triton.next_power_of_2(D))", "already_applied"),
        ("BD = 8", "already_applied"),
        ("BD = 64 if D > 9 else 16", "already_applied"),
        ("BD = max(32, triton.next_power_of_2(D))", "bad_setting"),
        ("BD = choose(D)", "tile_unknown"),
        ("BD = BD or 64", "tile_unknown"),
        ("BD = 64; print(BD * 2)", "tile_shared"),
        ("BD = 64; assert triton.cdiv(D, BD) == 1", "tile_shared"),
    ],
)
def test_launchers_that_refuse(refusal: Callable[..., object], tile: str, code: str) -> None:
    assert refusal("split_tiles", text(tile=tile)).code == code  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("body", "code", "line"),
    [
        (["tl.store(y, tl.sum(tl.load(x + o, mask=m, other=0.0)))"], "reduction_over_tile_axis", 9),
        (["tl.store(y + o, tl.load(x + o))"], "non_pow2_unmasked", 9),
        (["tl.store(y + i, i)"], "no_tiled_axis", 5),
        (["tl.store(y + o, tl.load(x + o, mask=m) * BD, mask=m)"], "tile_used_otherwise", 9),
        (["tl.store(y + o, tl.load(x + o, mask=m) + i, mask=m)"], "axis_used_otherwise", 9),
        ([BODY, "tl.store(x + o, tl.load(x) + tl.load(y + o, mask=m), mask=m)"], "inplace_not_separated", 10),
    ],
)
def test_kernels_that_refuse(refusal: Callable[..., object], body: list[str], code: str, line: int) -> None:
    found = refusal("split_tiles", text(*body))
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]


def test_a_load_needs_no_bound(rewrite: Callable[..., list[str]]) -> None:
    assert rewrite("split_tiles", text("tl.store(y + o, tl.load(x + o), mask=m)"))


@pytest.mark.parametrize("tile", [12, 0, -8, "whole"])
def test_tiles_are_powers_of_two(refusal: Callable[..., object], tile: object) -> None:
    assert refusal("split_tiles", text(), tile=tile).code == "bad_setting"  # type: ignore[attr-defined]


def test_dots_need_sixteen_lanes(refusal: Callable[..., object], rewrite: Callable[..., list[str]]) -> None:
    body = [
        "b = tl.load(x + o, mask=m, other=0.0)",
        "a = tl.load(y + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :])",
        "c = tl.dot(a, tl.broadcast_to(b[None, :], (16, BD)))",
        "tl.store(x + D + tl.arange(0, 16)[:, None] * D + o[None, :], c, mask=m[None, :])",
    ]
    assert refusal("split_tiles", text(*body), tile=8).code == "bad_setting"  # type: ignore[attr-defined]
