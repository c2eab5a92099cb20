"""divide_grid: only this launch's number of tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skel.rewriter.primitives.divide_grid import divide_grid

Host = Callable[..., Any]
Refused = Callable[..., tuple[str, tuple[int, ...]]]


@pytest.mark.parametrize(
    ("launcher", "expected"),
    [
        ("kernel[(triton.cdiv(V, BV), N)](V=V, BV=BV)", "kernel[(triton.cdiv(V, BV * 2), N)](V=V, BV=BV)"),
        ("kernel[(triton.cdiv(V, 8), N)](V=V, BV=8)", "kernel[(triton.cdiv(V, 8 * 2), N)](V=V, BV=8)"),
        (
            "kernel[(N * triton.cdiv(V, BV + 0),)](V=V, BV=BV + 0)",
            "kernel[(N * triton.cdiv(V, (BV + 0) * 2),)](V=V, BV=BV + 0)",
        ),
        (
            "kernel[((V + BV - 1) // BV * N,)](V=V, BV=BV)",
            "kernel[(triton.cdiv((V + BV - 1) // BV, 2) * N,)](V=V, BV=BV)",
        ),
        ("kernel[(V // BV, N)](V=V, BV=BV)", "kernel[(triton.cdiv(V // BV, 2), N)](V=V, BV=BV)"),
        (
            "kernel[lambda m: (triton.cdiv(V, m['BV']),)](V=V, BV=BV)",
            "kernel[lambda m: (triton.cdiv(V, m['BV'] * 2),)](V=V, BV=BV)",
        ),
        ("kernel[(NV, N)](V=V, BV=BV)", "kernel[(triton.cdiv(NV, 2), N)](V=V, BV=BV)"),
        ("kernel[(NV * N,)](V=V, BV=BV)", "kernel[(triton.cdiv(NV, 2) * N,)](V=V, BV=BV)"),
        ("n = NV * N; kernel[(n,)](V=V, BV=BV)", "n = triton.cdiv(NV, 2) * N; kernel[(n,)](V=V, BV=BV)"),
    ],
)
def test_forms(host: Host, launcher: str, expected: str) -> None:
    case = host(f"def run(x, V, BV, N):\n    NV = triton.cdiv(V, BV)\n    p = x.new_empty(NV)\n    {launcher}\n")
    assert case.changed(divide_grid(case.module, case.launches, "BV", 2)) == [expected]


def test_a_named_factor_and_every_choice_of_grid(host: Host) -> None:
    case = host(
        "def run(V, BV, N, T):\n    if N:\n        grid = (triton.cdiv(V, BV), N)\n"
        "    else:\n        grid = (triton.cdiv(V, BV), 1)\n"
        "    kernel[grid](V=V, BV=BV)\n"
    )
    assert case.changed(divide_grid(case.module, case.launches, "BV", "T")) == [
        "grid = (triton.cdiv(V, BV * T), N)",
        "grid = (triton.cdiv(V, BV * T), 1)",
    ]


def test_without_a_name_for_cdiv(host: Host) -> None:
    kernel = (
        "from triton import jit\nimport triton.language as tl\n\n"
        "\n@jit\ndef kernel(V, BV: tl.constexpr):\n    pass\n\n\n"
    )
    case = host("def run(V, BV):\n    kernel[(-(-V // BV),)](V, BV)\n", kernel=kernel)
    assert case.changed(divide_grid(case.module, case.launches, "BV", 2)) == [
        "kernel[(-(-(-(-V // BV)) // (2)),)](V, BV)"
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("    grid = (NV,)\n    other[grid](V)\n    kernel[grid](V=V, BV=BV)\n", "tile_shared"),
        ("    n = NV * 2\n    p = new(n)\n    kernel[(n,)](V=V, BV=BV)\n", "tile_shared"),
        ("    kernel[(4,)](V=V, BV=BV)\n", "grid_not_tied_to_tile"),
        ("    kernel[pick(V)](V=V, BV=BV)\n", "unreadable_launch"),
        ("    go = kernel if V else other\n    go[(NV,)](V=V, BV=BV)\n", "unreadable_launch"),
    ],
)
def test_refusals(host: Host, refused: Refused, body: str, code: str) -> None:
    case = host("@triton.jit\ndef other(V):\n    pass\n\n\ndef run(V, BV):\n    NV = triton.cdiv(V, BV)\n" + body)
    found, lines = refused(lambda: divide_grid(case.module, case.launches, "BV", 2))
    assert found == code and lines
