"""Tile counts in grid dimensions, and who else reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skel.rewriter.kernel.count import Count, tile_axes
from skel.rewriter.kernel.grid import read_grid

Host = Callable[..., Any]


def axes(case: Any, param: str = "BV") -> dict[int, tuple[Count, ...]]:
    return tile_axes(case.module, case.launch, read_grid(case.module, case.launch).choices, param)


@pytest.mark.parametrize(
    "division",
    [
        "triton.cdiv(V, BV)",
        "(V + BV - 1) // BV",
        "(V + (BV - 1)) // BV",
        "(BV + V - 1) // BV",
        "-(-V // BV)",
        "-(V // -BV)",
        "(V - 1) // BV + 1",
        "int(math.ceil(V / BV))",
        "math.ceil(V / BV)",
        "up(V, BV)",
    ],
)
def test_ways_to_round_up(host: Host, division: str) -> None:
    case = host(
        "import math\n\n\ndef up(a, b):\n    return (a + b - 1) // b\n\n\n"
        f"def run(V, BV, N):\n    kernel[(N, ({division}) * 2 * N)](V, BV=BV)\n"
    )
    ((axis, (count,)),) = axes(case).items()
    assert axis == 1 and case.source(count.dimension) == "V" and case.source(count.tile) == "BV"
    assert [case.source(f) for f in count.other_factors] == ["2", "N"]
    assert count.exact and not count.floor_division and not count.from_meta


@pytest.mark.parametrize(
    ("check", "exact"),
    [
        ("", False),
        ("assert V % BV == 0", True),
        ("assert N and V % BV == 0, 'no'", True),
        ("assert V % BV == 1", False),
        ("if V % BV:\n        raise ValueError", True),
        ("if V % BV != 0 or N:\n        raise ValueError", True),
        ("if V % BV != 0 and N:\n        raise ValueError", False),
        ("assert not V % BV", True),
        ("assert N % BV == 0", False),
    ],
)
def test_floor_division_is_exact_only_where_asserted(host: Host, check: str, exact: bool) -> None:
    case = host(f"def run(V, BV, N):\n    {check or 'pass'}\n    kernel[(V // BV,)](V, BV=BV)\n")
    (count,) = axes(case)[0]
    assert count.floor_division and count.exact is exact and (count.divisibility is not None) is exact


@pytest.mark.parametrize(
    "grid",
    [
        "lambda M: (triton.cdiv(V, M['BV']),)",
        "lambda M: (triton.cdiv(V, M.get('BV')),)",
        "lambda M: (triton.cdiv(M['V'], M['BV']),)",
    ],
)
def test_grid_functions_follow_the_launch(host: Host, grid: str) -> None:
    case = host(f"def run(size):\n    V = size\n    kernel[{grid}](V=V, BV=32)\n")
    (count,) = axes(case)[0]
    assert count.from_meta and case.source(count.dimension) == "V"


def test_grid_function_with_locals_and_closure(host: Host) -> None:
    case = host(
        "def run(V):\n    BV = 16\n    def grid(meta):\n        n = triton.cdiv(V, BV)\n        return (n * 2,)\n"
        "    kernel[grid](V=V, BV=BV)\n"
    )
    (count,) = axes(case)[0]
    assert not count.from_meta and case.source(count.use_node) == "n"


def test_names_are_followed_to_the_division(host: Host) -> None:
    case = host(
        "def run(V, K, N):\n    BK, BV = 16, 32\n    NK, NV = triton.cdiv(K, BK), triton.cdiv(V, BV)\n"
        "    n = NV * N\n    grid = (NK, n)\n    kernel[grid](V=V, K=K, BV=BV, BK=BK)\n"
    )
    assert {axis: case.source(c[0].count_node) for axis, c in axes(case).items()} == {1: "triton.cdiv(V, BV)"}
    assert {axis: case.source(c[0].count_node) for axis, c in axes(case, "BK").items()} == {0: "triton.cdiv(K, BK)"}
    (count,) = axes(case)[1]
    assert [b.name for b in count.bindings] == ["n", "NV"] and [b.name for b in count.outer] == ["n"]
    assert case.source(count.use_node) == "NV"


@pytest.mark.parametrize(
    "launcher",
    [
        "def run(V, BV):\n    kernel[(triton.cdiv(V, BV) + 1,)](V=V, BV=BV)\n",
        "def run(V, BV, BK):\n    kernel[(triton.cdiv(V, BK),)](V=V, BV=BV, BK=BK)\n",
        "def run(V, BV):\n    n = triton.cdiv(V, BV)\n    n += 1\n    kernel[(n,)](V=V, BV=BV)\n",
        "def run(V, BV):\n    n = triton.cdiv(V, BV)\n    BV = 2 * BV\n    kernel[(n,)](V=V, BV=BV)\n",
        "def run(V):\n    A = 32\n    B = 32\n    kernel[(triton.cdiv(V, A),)](V=V, BV=B)\n",
        "def cdiv(a, b):\n    return a // b\n\n\ndef run(V, BV):\n    kernel[(cdiv(V, BV),)](V=V, BV=BV)\n",
        "def run(V, BV, cdiv):\n    kernel[(cdiv(V, BV),)](V=V, BV=BV)\n",
    ],
)
def test_what_does_not_count_these_tiles(host: Host, launcher: str) -> None:
    assert axes(host(launcher)) == {}


def test_equal_literals_are_ambiguous(host: Host) -> None:
    case = host("def run(V, K):\n    kernel[(triton.cdiv(V, 32),)](V=V, K=K, BV=32, BK=32)\n")
    assert axes(case)[0][0].ambiguous and axes(case, "BK")[0][0].ambiguous
    case = host("def run(V, K):\n    kernel[(triton.cdiv(V, 32),)](V=V, K=K, BV=32, BK=16)\n")
    assert not axes(case)[0][0].ambiguous and axes(case, "BK") == {}


def test_every_choice_of_grid_must_count(host: Host) -> None:
    text = (
        "def run(V, BV, c):\n    NV = triton.cdiv(V, BV)\n"
        "    grid = (NV, 1, 2) if c else ({}, {}, 2)\n    kernel[grid](V=V, BV=BV)\n"
    )
    assert set(axes(host(text.format("NV * 3", "1")))) == {0}
    assert axes(host(text.format("1", "NV"))) == {}


@pytest.mark.parametrize(
    ("use", "kind"),
    [
        ("p = x.new_empty(NV, V)", "scratch"),
        ("p = torch.empty(NV, dtype=a if NV == 1 else b)", "dtype"),
        ("dtype = a if NV == 1 else b", "dtype"),
        ("if NV > 1:\n        p_dtype = b", "dtype"),
        ("assert NV == 1", "assert"),
        ("if NV > 1:\n        raise ValueError", "assert"),
        ("other[(NV,)](x)", "other_grid"),
        ("m = NV\n    other[(m,)](x)", "other_grid"),
        ("other[(1,)](x, NV)", "argument"),
        ("log(NV)", "other"),
    ],
)
def test_uses_of_the_count(host: Host, use: str, kind: str) -> None:
    case = host(
        "@triton.jit\ndef other(x, n):\n    pass\n\n\ndef run(x, V, BV, a, b):\n    NV = triton.cdiv(V, BV)\n"
        f"    {use}\n    kernel[(NV,)](V=V, BV=BV)\n"
    )
    (count,) = axes(case)[0]
    assert kind in {u.kind for u in count.uses}
    assert {u.kind for u in count.uses} <= {kind, "grid", "derived", "scratch"}
