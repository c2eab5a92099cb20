"""set_launch: options at the launch, by name, by table and where an autotuner owns them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skel.rewriter.primitives.set_launch import set_launch

Host = Callable[..., Any]
Refused = Callable[..., tuple[str, tuple[int, ...]]]


@pytest.mark.parametrize(
    ("launcher", "expected"),
    [
        ("    kernel[(1,)](V, num_warps=1)\n", ["kernel[(1,)](V, num_warps=4)"]),
        ("    kernel[(1,)](V, num_warps=(1))\n", ["kernel[(1,)](V, num_warps=(4))"]),
        ("    kernel[(1,)](V)\n", ["kernel[(1,)](V, num_warps=4)"]),
        ("    kernel[(1,)]()\n", ["kernel[(1,)](num_warps=4)"]),
        ("    w = 1\n    kernel[(1,)](V, num_warps=w)\n", ["w = 4"]),
        ("    w = 1\n    log(w)\n    kernel[(1,)](V, num_warps=w)\n", ["kernel[(1,)](V, num_warps=4)"]),
        ("    w = 1 if V else 2\n    kernel[(1,)](V, num_warps=w)\n", ["kernel[(1,)](V, num_warps=4)"]),
        ("    kernel[(1,)](V, num_warps=WARPS)\n", ["kernel[(1,)](V, num_warps=4)"]),
        ("    BV, w = pick(V)\n    kernel[(1,)](V, BV=BV, num_warps=w)\n", ["kernel[(1,)](V, BV=BV, num_warps=4)"]),
        ("    cfg = pick(V)\n    kernel[(1,)](V, **cfg)\n", ['cfg = {**cfg, "num_warps": 4}']),
        ("    cfg = dict(BV=8)\n    kernel[(1,)](V, **cfg)\n", ["kernel[(1,)](V, num_warps=4, **cfg)"]),
        ("    kernel[(1,)](V, **TABLE[V])\n", ['kernel[(1,)](V, **{**TABLE[V], "num_warps": 4})']),
        ("    kernel[(1,)](V, **TABLE)\n", ['kernel[(1,)](V, **{**TABLE, "num_warps": 4})']),
        ("    kernel[(1,)](V, num_warps=4)\n", []),
    ],
)
def test_warps(host: Host, launcher: str, expected: list[str]) -> None:
    case = host("WARPS = 2\nTABLE = table()\n\n\ndef run(V):\n" + launcher)
    assert case.changed(set_launch(case.module, case.launches, {"num_warps": 4})) == expected


def test_two_options_share_the_call(host: Host) -> None:
    case = host("def run(V):\n    kernel[(1,)](\n        V,\n        num_warps=1,\n    )\n")
    assert case.changed(set_launch(case.module, case.launches, {"num_warps": 2, "num_stages": 3})) == [
        "num_warps=2,",
        "num_stages=3,",
    ]


def test_refusals(host: Host, refused: Refused) -> None:
    kernel = (
        "import triton\n\n\n@triton.autotune([triton.Config({}, num_warps=2)], key=[])\n"
        "@triton.jit\ndef kernel(V):\n    pass\n\n\n"
    )
    case = host("def run(V):\n    kernel[(1,)](V)\n", kernel=kernel)
    assert refused(lambda: set_launch(case.module, case.launches, {"num_warps": 4})) == (
        "option_belongs_to_autotuner",
        (4, 11),
    )
    case = host("def run(V, a, b):\n    kernel[(1,)](V, **a, **b)\n")
    assert refused(lambda: set_launch(case.module, case.launches, {"num_warps": 4})) == (
        "option_through_kwargs",
        (case.launch.line,),
    )
    case = host("def run(V):\n    kernel[(1,)](V, num_warps=1)\n    kernel[(1,)](V, num_warps=2)\n")
    code, lines = refused(lambda: set_launch(case.module, case.launches, {"num_warps": 4}))
    assert code == "several_launch_sites" and len(lines) == 2


def test_a_name_shared_by_two_equal_launches_changes_once(host: Host) -> None:
    case = host(
        "def run(V):\n    w = 1\n    if V:\n        kernel[(1,)](V, num_warps=w)\n"
        "    else:\n        kernel[(1,)](V, num_warps=w)\n"
    )
    assert case.changed(set_launch(case.module, case.launches, {"num_warps": 4})) == ["w = 4"]


def test_an_option_that_a_heuristic_computes(host: Host, refused: Refused) -> None:
    kernel = (
        "import triton\n\n\n@triton.heuristics({'num_warps': lambda a: 2})\n@triton.jit\ndef kernel(V):\n    pass\n\n\n"
    )
    case = host("def run(V):\n    kernel[(1,)](V)\n", kernel=kernel)
    assert refused(lambda: set_launch(case.module, case.launches, {"num_warps": 4})) == ("tile_from_heuristic", (4, 11))
    assert case.changed(set_launch(case.module, case.launches, {"num_stages": 4})) == ["kernel[(1,)](V, num_stages=4)"]
