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


NUMBER = KERNEL.replace("{tile}\n    kernel[(triton.cdiv(D, BD),)](x, y, D, BD=BD)", "kernel[{grid}](x, y, D, BD=128)")


@pytest.mark.parametrize(
    ("grid", "after"),
    [
        ("(triton.cdiv(D, 128),)", "kernel[(triton.cdiv(D, 16),)](x, y, D, BD=16)"),
        ("((D + 127) // 128,)", "kernel[(triton.cdiv(D, 16),)](x, y, D, BD=16)"),
        (
            "lambda meta: (triton.cdiv(D, meta['BD']),)",
            "kernel[lambda meta: (triton.cdiv(D, meta['BD']),)](x, y, D, BD=16)",
        ),
    ],
)
def test_a_number_at_the_launch_changes_with_the_grid(rewrite: Callable[..., list[str]], grid: str, after: str) -> None:
    assert rewrite("split_tiles", NUMBER.format(body=BODY, grid=grid)) == [after]


def test_a_number_that_two_arguments_share_is_not_told_apart(refusal: Callable[..., object]) -> None:
    both = NUMBER.replace("BD: tl", "W: tl.constexpr, BD: tl").replace("D, BD=128", "D, W=128, BD=128")
    assert refusal("split_tiles", both.format(body=BODY, grid="(triton.cdiv(D, 128),)")).code == "tile_unknown"  # type: ignore[attr-defined]


PRODUCT = KERNEL.replace("x, y, D, BD: tl", "x, y, M, N, BD: tl").replace("o < D", "o < {limit}")
PRODUCT = PRODUCT.replace("D = x.shape[0]", "M, N = x.shape").replace("x.new_empty(D)", "x.new_empty(M, N)")
PRODUCT = PRODUCT.replace("cdiv(D, BD),)](x, y, D,", "cdiv({size}, BD),)](x, y, M, N,").replace("{tile}", "BD = 64")


@pytest.mark.parametrize("size", ["M * N", "N * M", "total"])
def test_a_limit_may_be_a_product_of_arguments(rewrite: Callable[..., list[str]], size: str) -> None:
    text = PRODUCT.replace("BD = 64", "BD = 64\n    total = M * N").format(body=BODY, limit="M * N", size=size)
    assert rewrite("split_tiles", text) == ["BD = 16"]


@pytest.mark.parametrize(
    ("limit", "size"), [("M * N", "M"), ("M * M", "M * N"), ("M * N", "2 * M * N"), ("M + N", "M * N")]
)
def test_another_product_is_no_bound(refusal: Callable[..., object], limit: str, size: str) -> None:
    found = refusal("split_tiles", PRODUCT.format(body=BODY, limit=limit, size=size))
    assert found.code == "non_pow2_unmasked"  # type: ignore[attr-defined]


def test_whole_tiles_only_must_be_all_there_is(
    rewrite: Callable[..., list[str]], refusal: Callable[..., object]
) -> None:
    """Rounded down, the wider tile leaves more of the dimension out than the narrower one would."""
    rounded = text(tile="BD = 64").replace("triton.cdiv(D, BD)", "D // BD")
    assert refusal("split_tiles", rounded).code == "tile_must_divide"  # type: ignore[attr-defined]
    asserted = rounded.replace("BD = 64", "BD = 64\n    assert D % BD == 0")
    assert rewrite("split_tiles", asserted) == ["BD = 16"]


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


FLAT = """import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, D, BD: tl.constexpr, ND: tl.constexpr):
    pid = tl.program_id(0)
    o = (pid % ND) * BD + tl.arange(0, BD)
    i = pid // ND
    tl.store(y + i * D + o, tl.load(x + i * D + o, mask=o < D), mask=o < D)


def run(x):
    R, D = x.shape
    y = torch.empty_like(x)
    grid = lambda meta: (triton.cdiv(D, meta["BD"]) * R,)
    kernel[grid](x, y, D, BD=64, ND=COUNT)
    return y
"""


def test_a_count_that_the_kernel_decodes_by_follows(rewrite: Callable[..., list[str]]) -> None:
    lines = rewrite("split_tiles", FLAT.replace("COUNT", "triton.cdiv(D, 64)"))
    assert "kernel[grid](x, y, D, BD=16, ND=triton.cdiv(D, 16))" in lines


@pytest.mark.parametrize("count", ["4", "triton.cdiv(x.shape[1], 64)", "triton.cdiv(D, 63 + 1)"])
def test_a_count_that_would_stay_refuses(refusal: Callable[..., object], count: str) -> None:
    found = refusal("split_tiles", FLAT.replace("COUNT", count))
    assert (found.code, found.line) == ("grid_not_tied_to_tile", 18)  # type: ignore[attr-defined]
