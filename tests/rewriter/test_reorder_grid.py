"""reorder_grid: how ids are decoded, where the sizes come from, and what keeps a grid as it is."""

from collections.abc import Callable

import pytest

FILE = """import triton
import triton.language as tl


@triton.jit
def rows_kernel(x, y, N, V, BV: tl.constexpr):
    i_n = tl.program_id(1).to(tl.int64)
    o_v = tl.program_id(0) * BV + tl.arange(0, BV)
    tl.store(y + i_n * V + o_v, tl.load(x + i_n * V + o_v, mask=o_v < V), mask=o_v < V)


def rows(x, y, B, H, V):
    grid = (triton.cdiv(V, 16), B * H)
    rows_kernel[grid](x, y, B * H, V, BV=16)
"""


def changed(*pairs: tuple[str, str]) -> str:
    text = FILE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def test_the_first_axis_stays_fastest(rewrite: Callable[..., list[str]]) -> None:
    assert rewrite("reorder_grid", FILE) == [
        "def rows_kernel(x, y, N, V, BV: tl.constexpr, grid_0):",
        "i_program = tl.program_id(0)",
        "i_n = (i_program // grid_0).to(tl.int64)",
        "o_v = (i_program % grid_0) * BV + tl.arange(0, BV)",
        "grid = (triton.cdiv(V, 16) * (B * H),)",
        "rows_kernel[grid](x, y, B * H, V, BV=16, grid_0=triton.cdiv(V, 16))",
    ]


def test_an_axis_past_the_grid_is_zero(rewrite: Callable[..., list[str]]) -> None:
    lines = rewrite("reorder_grid", changed(("BV + tl.ar", "BV + tl.program_id(2) + tl.ar")))
    assert "o_v = (i_program % grid_0) * BV + (i_program * 0) + tl.arange(0, BV)" in lines


def test_a_size_of_the_tuned_tile_is_computed_in_the_kernel(rewrite: Callable[..., list[str]]) -> None:
    text = changed(("grid = (triton.cdiv(V, 16), B * H)", "grid = lambda m: (triton.cdiv(V, m['BV']), B * H)"))
    lines = rewrite("reorder_grid", text)
    assert lines[:3] == [
        "i_program = tl.program_id(0)",
        "grid_0 = tl.cdiv(V, BV)",
        "i_n = (i_program // grid_0).to(tl.int64)",
    ]
    assert "grid = lambda m: (triton.cdiv(V, m['BV']) * (B * H),)" in lines


def test_a_default_that_no_launch_can_rely_on(rewrite: Callable[..., list[str]]) -> None:
    lines = rewrite("reorder_grid", changed(("BV: tl.constexpr)", "BV: tl.constexpr = 16)")))
    assert "def rows_kernel(x, y, N, V, BV: tl.constexpr = 16, grid_0 = None):" in lines


REFUSALS = {
    "one size an axis": ([("B * H)\n", "B)\n")], "grid_within_limits", 14),
    "a product with a number": ([("16), B * H)", "16), B * 2)")], "grid_within_limits", 14),
    "one axis": ([("(triton.cdiv(V, 16), B * H)", "(triton.cdiv(V, 16) * B * H,)")], "grid_within_limits", 14),
    "counts programs": ([("* BV +", "* BV * tl.num_programs(1) +")], "grid_barrier", 8),
    "an axis by name": ([("program_id(1)", "program_id(BV)")], "unknown_construct", 7),
    "another kernel's grid": (
        [("    rows_kernel[grid]", "    other_kernel[grid](x)\n    rows_kernel[grid]")],
        "tile_shared",
        15,
    ),
    "a size from elsewhere": (
        [("grid = (triton.cdiv(V, 16), B * H)", "grid = lambda m: (m['N'] + V, B * H)")],
        "unreadable_launch",
        14,
    ),
    "a size that changes before the launch": (
        [("    rows_kernel[grid]", "    V = 2 * V\n    rows_kernel[grid]"), ("x, y, B * H, V,", "x, y, B * H, 7,")],
        "unreadable_launch",
        15,
    ),
    "the name is taken": ([("    i_n = tl", "    i_program = 0\n    i_n = tl")], "name_taken", 6),
    "a helper asks": (
        [
            ("@triton.jit", "@triton.jit\ndef which():\n    return tl.program_id(0)\n\n\n@triton.jit"),
            ("tl.program_id(0) * BV", "which() * BV"),
        ],
        "unknown_construct",
        13,
    ),
    "a helper that was not found": ([("* BV +", "* BV + elsewhere() +")], "opaque_call", 8),
    "no launch": ([("    rows_kernel[grid]", "    other[grid]")], "no_launch_site", 6),
}


@pytest.mark.parametrize(("pairs", "code", "line"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals(refusal: Callable[..., object], pairs: list[tuple[str, str]], code: str, line: int) -> None:
    text = changed(*pairs)
    if "def which" in text:
        # Two functions read an id; the helper is no entry of its own to these tests.
        text = text.replace("def which():\n    return tl.program_id(0)", "def which():\n    return tl.num_programs(0)")
    found = refusal("reorder_grid", text)
    assert (found.code, found.line) == (code, line)  # type: ignore[attr-defined]
