"""All host changes in one go, and what the rewritten launchers then launch."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from typing import Any

import pytest

from skel.rewriter.kernel.edits import apply_edits
from skel.rewriter.kernel.insert import insert_lines
from skel.rewriter.kernel.launch import readable_launches
from skel.rewriter.kernel.source import read_source
from skel.rewriter.primitives.divide_grid import divide_grid
from skel.rewriter.primitives.host_overrides import host_overrides
from skel.rewriter.primitives.pass_constexpr import add_parameter
from skel.rewriter.primitives.set_tile import set_tile

Host = Callable[..., Any]
Refused = Callable[..., tuple[str, tuple[int, ...]]]
Launched = Callable[..., list[tuple[tuple[int, ...], dict[str, Any]]]]


def test_tile_and_warps_of_a_table_share_a_line(host: Host) -> None:
    case = host(
        "TABLE = {64: dict(BV=8, num_warps=1)}\n\n\ndef run(V):\n    cfg = TABLE[V]\n"
        "    kernel[(triton.cdiv(V, cfg['BV']),)](V=V, **cfg)\n"
    )
    edits = host_overrides(
        case.module, case.launches, param="BV", tile="whole", options={"num_warps": 4}, constexprs={"T": "2"}
    )
    assert case.changed(edits) == [
        'cfg = {**cfg, "BV": triton.next_power_of_2(V), "num_warps": 4}',
        "kernel[(triton.cdiv(V, cfg['BV']),)](V=V, T=2, **cfg)",
    ]


def test_a_line_and_an_entry_at_one_place(host: Host) -> None:
    case = host("def run(V):\n    BV, cfg = pick(V)\n    kernel[(triton.cdiv(V, BV),)](V=V, BV=BV, **cfg)\n")
    edits = host_overrides(case.module, case.launches, param="BV", tile=64, options={"num_warps": 4, "num_stages": 1})
    assert case.changed(edits) == [
        "BV = min(64, triton.next_power_of_2(V))",
        'cfg = {**cfg, "num_warps": 4, "num_stages": 1}',
    ]


def test_the_last_line_may_lack_its_end() -> None:
    source = read_source("def run(V):\n    cfg = pick(V)", "case.py")
    (function,) = source.tree.body
    assert isinstance(function, ast.FunctionDef)
    edit = insert_lines(source, function.body[0], None, ["cfg = 1", "d = 2"])
    assert edit is not None
    assert apply_edits(source.text, [edit]) == "def run(V):\n    cfg = pick(V)\n    cfg = 1\n    d = 2"


def test_lines_before_a_decorated_function_and_beside_a_comment() -> None:
    source = read_source("a = 1  # one\n@f\ndef g(): pass\nb = 1; c = 2\n", "case.py")
    first, function, *shared = source.tree.body
    before, after = insert_lines(source, None, function, ["x = 0"]), insert_lines(source, first, None, ["y = 0"])
    assert before is not None and after is not None and before.start == after.start
    assert apply_edits(source.text, [before]).startswith("a = 1  # one\nx = 0\n@f\n")
    assert [insert_lines(source, one, None, ["z"]) for one in shared] == [None, None]


def test_refusals_of_any_part_refuse_all(host: Host, refused: Refused) -> None:
    case = host("def run(V):\n    BV = 8\n    kernel[(triton.cdiv(V, BV),)](V=V, BV=BV)\n")
    assert (
        refused(lambda: host_overrides(case.module, case.launches, param="BV", tile="whole", constexprs={"BV": "1"}))[0]
        == "name_taken"
    )


BINDINGS = {
    "literal": ("", "16"),
    "name": ("    BV = 16\n", "BV"),
    "capped": ("    BV = min(16, triton.next_power_of_2(V))\n", "BV"),
    "tuple": ("    BK, BV = 8, min(triton.next_power_of_2(V), 16)\n", "BV"),
    "branches": ("    if V > 40:\n        BV = 16\n    else:\n        BV = 8\n", "BV"),
    "arms": ("    BV = 16 if V > 40 else 8\n", "BV"),
    "constant": ("", "TILE"),
    "helper": ("    BV, warps = pick(V)\n", "BV"),
    "table": ("    cfg = TABLE[0]\n", "cfg['BV']"),
    "alias": ("    tile = 16\n    BV = tile\n", "BV"),
}
GRIDS = {
    "tuple": ("", "(triton.cdiv(V, {tile}), N)"),
    "product": ("", "(N * triton.cdiv(V, {tile}),)"),
    "name": ("    NV = triton.cdiv(V, {tile})\n    grid = (NV, N)\n", "grid"),
    "rounded": ("    grid = ((V + {tile} - 1) // {tile}, N)\n", "grid"),
    "negated": ("", "(-(-V // {tile}), N)"),
    "lambda": ("    grid = lambda META: (triton.cdiv(V, META['BV']), N)\n", "grid"),
    "function": ("    def grid(meta):\n        return (triton.cdiv(V, meta['BV']) * N,)\n", "grid"),
    "closure": ("    def grid(meta):\n        n = triton.cdiv(V, {tile})\n        return (n, N)\n", "grid"),
}
CALLS = {
    "keywords": "    kernel[{grid}](x, x, V=V, K=8, BV={tile}, BK=8, num_warps=1)\n",
    "positional": "    kernel[{grid}](x, x, V, 8, {tile}, 8)\n",
    "lines": (
        "    kernel[{grid}](\n        x,  # größe\n        x,\n        V,\n"
        "        K=8,\n        BV={tile},\n        BK=8,\n    )\n"
    ),
}
HEAD = "TILE = 16\nTABLE = [dict(BV=16)]\n\n\ndef pick(n):\n    return 16, 2\n\n\n"


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("grid", GRIDS)
def test_launches_before_and_after(host: Host, launched: Launched, binding: str, grid: str) -> None:
    """Every binding with every grid: the launch has the new tile, the tiles cover V, the rest stays."""
    lines, tile = BINDINGS[binding]
    before_grid, where = (text.replace("{tile}", tile) for text in GRIDS[grid])
    for call, newline in itertools.product(CALLS, ("\n", "\r\n")):
        launch = CALLS[call].replace("{grid}", where).replace("{tile}", tile)
        case = host((HEAD + f"def run(V, N=3, x=None):\n{lines}{before_grid}{launch}").replace("\n", newline))
        ready = readable_launches(case.module, case.kernel)
        for choice in ("whole", 32):
            edits = host_overrides(
                case.module, ready, param="BV", tile=choice, options={"num_warps": 4}, constexprs={"T": "2"}
            )
            text = case.after([*edits, *add_parameter(case.module, case.kernel, "T")])
            assert ("\r\n" in text) == (newline == "\r\n") and text.count("\n") >= case.text.count("\n")
            for V in (8, 24, 64, 100):
                ((old_grid, old),) = launched(case.text, V=V)
                ((new_grid, new),) = launched(text, V=V)
                power = 1 << (V - 1).bit_length()
                assert new["BV"] == (power if choice == "whole" else min(32, power))
                assert _size(new_grid) == 3 * -(-V // new["BV"]) and _size(old_grid) == 3 * -(-V // old["BV"])
                assert {**new, "BV": old["BV"]} == {**old, "num_warps": 4, "T": 2}
        _divided(case, ready, launched)


def _divided(case: Any, ready: Any, launched: Launched) -> None:
    text = case.after(divide_grid(case.module, ready, "BV", 2))
    for V in (8, 24, 100):
        ((old_grid, old),) = launched(case.text, V=V)
        ((new_grid, new),) = launched(text, V=V)
        assert new == old and _size(new_grid) == 3 * _up(_up(V, old["BV"]), 2) and _size(old_grid) >= _size(new_grid)


def _up(above: int, below: int) -> int:
    return (above + below - 1) // below


def _size(grid: tuple[int, ...]) -> int:
    size = 1
    for dimension in grid:
        size *= dimension
    return size


@pytest.mark.parametrize("binding", ["name", "capped", "branches", "literal"])
def test_tiles_that_divide_stay_exact(host: Host, launched: Launched, binding: str) -> None:
    lines, tile = BINDINGS[binding]
    case = host(
        f"def run(V, N=3, x=None):\n{lines}    assert V % {tile} == 0\n"
        f"    kernel[(V // {tile}, N)](x, x, V, 8, BV={tile}, BK=8)\n"
    )
    for choice in (32, "divisor"):
        text = case.after(set_tile(case.module, case.launches, "BV", choice))
        if binding == "literal":
            text = text.replace("assert V % 16 == 0", "pass")  # The assertion spells its own 16; V below satisfies it.
        for V in (48, 64, 96, 160):
            ((grid, new),) = launched(text, V=V)
            assert V % new["BV"] == 0 and grid == (V // new["BV"], 3) and new["BV"] & (new["BV"] - 1) == 0
            assert new["BV"] == (min(32, V & -V) if choice == 32 else V & -V)


def test_dividing_and_widening_together(host: Host, launched: Launched, refused: Refused) -> None:
    case = host("def run(V, N=3, x=None):\n    kernel[(triton.cdiv(V, 8), N)](x, x, V, 8, BV=8, BK=8)\n")
    ready = readable_launches(case.module, case.kernel)
    # BK happens to be 8 as well: only a caller who knows that axis 0 walks the tiles of BV may go on.
    assert refused(lambda: set_tile(case.module, ready, "BV", 16))[0] == "grid_not_tied_to_tile"
    widened = host_overrides(case.module, ready, param="BV", tile=16, axis=0)
    text = case.after([*widened, *divide_grid(case.module, ready, "BV", 2, axis=0)])
    for V in (8, 40, 100):
        ((grid, new),) = launched(text, V=V)
        assert grid == (-(-V // (2 * new["BV"])), 3)
