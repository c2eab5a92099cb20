"""set_tile: golden changes and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skel.rewriter.primitives.set_tile import set_tile

Host = Callable[..., Any]
Refused = Callable[..., tuple[str, tuple[int, ...]]]

CALL = "    kernel[(triton.cdiv(V, BV),)](V=V, BV=BV)\n"


def changed(case: Any, tile: Any = "whole", **more: Any) -> list[str]:
    return case.changed(set_tile(case.module, case.launches, "BV", tile, **more))


@pytest.mark.parametrize(
    ("before", "whole", "capped"),
    [
        ("BV = 32", "BV = triton.next_power_of_2(V)", "BV = min(64, triton.next_power_of_2(V))"),
        (
            "BV = min(32, triton.next_power_of_2(V))",
            "BV = triton.next_power_of_2(V)",
            "BV = min(64, triton.next_power_of_2(V))",
        ),
        (
            "BV = min(triton.next_power_of_2(V), 32)  # cap",
            "BV = triton.next_power_of_2(V)  # cap",
            "BV = min(triton.next_power_of_2(V), 64)  # cap",
        ),
        (
            "BV = min(32, max(16, triton.next_power_of_2(V)))",
            "BV = max(16, triton.next_power_of_2(V))",
            "BV = min(64, max(16, triton.next_power_of_2(V)))",
        ),
        (
            "BV = max(min(triton.next_power_of_2(V), 32), 16)",
            "BV = max(triton.next_power_of_2(V), 16)",
            "BV = max(min(triton.next_power_of_2(V), 64), 16)",
        ),
        (
            "BV = min(triton.next_power_of_2(V), 8 if c else 32)",
            "BV = triton.next_power_of_2(V)",
            "BV = min(triton.next_power_of_2(V), 64)",
        ),
        (
            "BV = min(CAP, triton.next_power_of_2(V))",
            "BV = triton.next_power_of_2(V)",
            "BV = min(64, triton.next_power_of_2(V))",
        ),
        ("BV = min(V, 32)", "BV = triton.next_power_of_2(V)", "BV = min(V, 64)"),
        ("BV = 8 if c else 32", "BV = triton.next_power_of_2(V)", "BV = min(64, triton.next_power_of_2(V))"),
        (
            "BV = min(8, triton.next_power_of_2(V)) if c else triton.next_power_of_2(V)",
            "BV = triton.next_power_of_2(V)",
            "BV = min(64, triton.next_power_of_2(V))",
        ),
        (
            "BV = block if block is not None else min(triton.next_power_of_2(V), 32)",
            "BV = block if block is not None else triton.next_power_of_2(V)",
            "BV = block if block is not None else min(triton.next_power_of_2(V), 64)",
        ),
        ("BV: int = 32", "BV: int = triton.next_power_of_2(V)", "BV: int = min(64, triton.next_power_of_2(V))"),
        (
            "BK, BV = triton.next_power_of_2(K), min(triton.next_power_of_2(V), 8)",
            "BK, BV = triton.next_power_of_2(K), triton.next_power_of_2(V)",
            "BK, BV = triton.next_power_of_2(K), min(triton.next_power_of_2(V), 64)",
        ),
        ("BV = CAP", "BV = triton.next_power_of_2(V)", "BV = min(64, triton.next_power_of_2(V))"),
        ("BV = table['BV']", "BV = triton.next_power_of_2(V)", "BV = min(64, triton.next_power_of_2(V))"),
    ],
)
def test_named_tiles(host: Host, before: str, whole: str, capped: str) -> None:
    case = host(f"CAP = 32\n\n\ndef run(V, K, c, table, block=None):\n    {before}\n" + CALL)
    assert changed(case) == [whole]
    assert changed(case, 64) == [capped]


def test_cap_on_another_dimension_gets_its_own_line(host: Host) -> None:
    case = host("def run(V, K):\n    BV = min(triton.next_power_of_2(K), 32)\n" + CALL)
    assert changed(case) == ["BV = triton.next_power_of_2(V)"]
    assert "BV = min(triton.next_power_of_2(K), 32)\n    BV = triton.next_power_of_2(V)\n" in case.after(
        set_tile(case.module, case.launches, "BV", "whole")
    )


def test_every_branch_changes_and_the_callers_choice_stays(host: Host) -> None:
    case = host(
        "def run(V, c):\n    if c:\n        BV = 8\n    elif V > 3:\n        BV = min(16, triton.next_power_of_2(V))\n"
        "    else:\n        BV = 64\n" + CALL
    )
    assert changed(case) == ["BV = triton.next_power_of_2(V)"] * 3
    case = host("def run(V, BV=None):\n    if BV is None:\n        BV = 32\n" + CALL)
    assert changed(case) == ["BV = triton.next_power_of_2(V)"]


def test_helper_results_are_assigned_again(host: Host) -> None:
    case = host(
        "def run(V):\n    BV, w = pick(V)  # from a table\n"
        "    NV = triton.cdiv(V, BV)\n    kernel[(NV,)](V=V, BV=BV, num_warps=w)\n"
    )
    text = case.after(set_tile(case.module, case.launches, "BV", "whole"))
    assert "    BV, w = pick(V)  # from a table\n    BV = triton.next_power_of_2(V)\n    NV =" in text


def test_dimension_bound_later_moves_the_assignment(host: Host) -> None:
    case = host(
        "def run(v):\n    BV = 32\n    V = v.shape[-1]\n    NV = triton.cdiv(V, BV)\n    kernel[(NV,)](V=V, BV=BV)\n"
    )
    text = case.after(set_tile(case.module, case.launches, "BV", "whole"))
    assert "    V = v.shape[-1]\n    BV = triton.next_power_of_2(V)\n    NV" in text
    case = host("def run(v):\n    V, BV = v.shape[-1], 32\n" + CALL)
    assert changed(case) == ["BV = triton.next_power_of_2(V)"]


def test_shape_spelled_twice_is_one_dimension(host: Host) -> None:
    case = host(
        "def run(v):\n    V = v.shape[-1]\n    BV = min(128, max(triton.next_power_of_2(v.shape[-1]), 16))\n" + CALL
    )
    assert changed(case) == ["BV = max(triton.next_power_of_2(v.shape[-1]), 16)"]


@pytest.mark.parametrize(
    ("launcher", "expected"),
    [
        ("kernel[(triton.cdiv(V, 8),)](V=V, BV=8)", "kernel[(triton.cdiv(V, T),)](V=V, BV=T)"),
        ("kernel[(triton.cdiv(V, 8),)](x, x, V, V, 8)", "kernel[(triton.cdiv(V, T),)](x, x, V, V, T)"),
        ("kernel[((V + 7) // 8,)](V=V, BV=8)", "kernel[(triton.cdiv(V, T),)](V=V, BV=T)"),
        ("kernel[(-(-V // 8),)](V=V, BV=8)", "kernel[(triton.cdiv(V, T),)](V=V, BV=T)"),
        ("kernel[(triton.cdiv(V, BLOCK),)](V=V, BV=BLOCK)", "kernel[(triton.cdiv(V, T),)](V=V, BV=T)"),
        (
            "kernel[lambda M: (triton.cdiv(V, M['BV']),)](V=V, BV=8)",
            "kernel[lambda M: (triton.cdiv(V, M['BV']),)](V=V, BV=T)",
        ),
    ],
)
def test_spelled_tiles_change_everywhere(host: Host, launcher: str, expected: str) -> None:
    case = host(f"BLOCK = 8\n\n\ndef run(x, V):\n    {launcher}\n")
    assert changed(case) == [expected.replace("T)", "triton.next_power_of_2(V))")]


def test_a_buffer_of_one_slot_a_tile_follows_the_literal(host: Host) -> None:
    case = host(
        "def run(x, V):\n    p = x.new_empty(triton.cdiv(V, 8), 3)\n"
        "    kernel[(triton.cdiv(V, 8),)](V=V, BV=8)\n    return p.sum(0)\n"
    )
    assert changed(case, 16) == [
        "p = x.new_empty(triton.cdiv(V, min(16, triton.next_power_of_2(V))), 3)",
        "kernel[(triton.cdiv(V, min(16, triton.next_power_of_2(V))),)](V=V, BV=min(16, triton.next_power_of_2(V)))",
    ]


@pytest.mark.parametrize(
    ("launcher", "expected"),
    [
        (
            "    cfg = TABLE[V]\n    grid = (triton.cdiv(V, cfg['BV']),)\n    kernel[grid](V=V, **cfg)\n",
            ['cfg = {**cfg, "BV": triton.next_power_of_2(V)}'],
        ),
        (
            "    cfg = TABLE[V]\n    BV = cfg['BV']\n    kernel[(triton.cdiv(V, BV),)](V=V, **cfg)\n",
            ['cfg = {**cfg, "BV": triton.next_power_of_2(V)}'],
        ),
        (
            "    cfg = dict(tile=8)\n    kernel[(triton.cdiv(V, cfg['tile']),)](V=V, BV=cfg['tile'])\n",
            ['cfg = {**cfg, "tile": triton.next_power_of_2(V)}'],
        ),
        (
            "    kernel[lambda m: (triton.cdiv(V, m['BV']),)](V=V, **TABLE[V])\n",
            ["kernel[lambda m: (triton.cdiv(V, m['BV']),)](V=V, **{**TABLE[V], \"BV\": triton.next_power_of_2(V)})"],
        ),
    ],
)
def test_tables(host: Host, launcher: str, expected: list[str]) -> None:
    case = host("TABLE = {64: dict(BV=8)}\n\n\ndef run(V):\n" + launcher)
    assert changed(case) == expected


def test_parameters_of_the_launcher(host: Host) -> None:
    case = host("def go(V, BV=32):\n" + CALL + "\n\ndef run(V):\n    go(V)\n")
    assert changed(case) == ["BV = triton.next_power_of_2(V)"]
    case = host(
        "def go(V, BV):\n    n = triton.cdiv(V, BV)\n    kernel[(n,)](V=V, BV=BV)\n\n\ndef run(V):\n    go(V, 32)\n"
    )
    assert "def go(V, BV):\n    BV = triton.next_power_of_2(V)\n    n =" in case.after(
        set_tile(case.module, case.launches, "BV", "whole")
    )


def test_kernel_default_is_passed(host: Host) -> None:
    kernel = "import triton\n\n\n@triton.jit\ndef kernel(V, BV: triton.language.constexpr = 8):\n    pass\n\n\n"
    case = host("def run(V):\n    kernel[lambda m: (triton.cdiv(V, m['BV']),)](V)\n", kernel=kernel)
    assert changed(case, 16) == [
        "kernel[lambda m: (triton.cdiv(V, m['BV']),)](V, BV=min(16, triton.next_power_of_2(V)))"
    ]


@pytest.mark.parametrize(
    ("imports", "spelled"),
    [
        ("from triton import cdiv, next_power_of_2", "next_power_of_2(V)"),
        ("import triton as tr\nfrom triton import cdiv", "tr.next_power_of_2(V)"),
        ("from .utils import cdiv, next_power_of_2", "next_power_of_2(V)"),
        ("from triton import cdiv", "(1 << (V - 1).bit_length())"),
    ],
)
def test_names_of_the_file_are_used(host: Host, imports: str, spelled: str) -> None:
    kernel = (
        f"{imports}\nfrom triton import jit\nimport triton.language as tl\n"
        f"\n\n@jit\ndef kernel(V, BV: tl.constexpr):\n    pass\n\n\n"
    )
    case = host("def run(V):\n    BV = 32\n    kernel[(cdiv(V, BV),)](V=V, BV=BV)\n", kernel=kernel)
    assert changed(case) == [f"BV = {spelled}"]


def test_an_import_inside_the_launcher_is_seen(host: Host) -> None:
    kernel = (
        "from triton import jit\nimport triton.language as tl\n\n"
        "\n@jit\ndef kernel(V, BV: tl.constexpr):\n    pass\n\n\n"
    )
    case = host("def run(V):\n    import triton\n    BV = min(8, triton.next_power_of_2(V))\n" + CALL, kernel=kernel)
    assert changed(case) == ["BV = triton.next_power_of_2(V)"]
    assert changed(case, "divisor") == ["BV = (V & -V)"]


def test_two_sites_change_together_or_not_at_all(host: Host, refused: Refused) -> None:
    text = (
        "def small(V):\n    BV = {}\n    kernel[(triton.cdiv(V, BV),)](V=V, BV=BV, num_warps={})\n\n\n"
        "def large(V):\n    BV = 32\n    kernel[(triton.cdiv(V, BV),)](V=V, BV=BV, num_warps=1)\n"
    )
    assert changed(host(text.format(32, 1))) == ["BV = triton.next_power_of_2(V)"] * 2
    for tile, warps in ((8, 1), (32, 2)):
        case = host(text.format(tile, warps))
        code, lines = refused(lambda case=case: set_tile(case.module, case.launches, "BV", "whole"))
        assert code == "several_launch_sites" and lines == tuple(launch.line for launch in case.launches)


def test_minimum_floors_new_tiles_only(host: Host) -> None:
    case = host("def run(V):\n    BV = 32\n" + CALL)
    assert changed(case, minimum=16) == ["BV = max(16, triton.next_power_of_2(V))"]
    assert changed(case, 64, minimum=16) == ["BV = max(16, min(64, triton.next_power_of_2(V)))"]


def test_tiles_that_must_divide(host: Host, refused: Refused) -> None:
    case = host("def run(V):\n    BV = 32\n    assert V % BV == 0\n    kernel[(V // BV,)](V=V, BV=BV)\n")
    assert refused(lambda: set_tile(case.module, case.launches, "BV", "whole")) == (
        "tile_must_divide",
        (13, case.launch.line),
    )
    assert changed(case, 64) == ["BV = min(64, V & -V)"]
    assert changed(case, "divisor") == ["BV = (V & -V)"]


REFUSED = {
    "single_tile": "    BV = triton.next_power_of_2(V)\n" + CALL,
    "single_tile ": "    BV = max(16, triton.next_power_of_2(V))\n" + CALL,
    "single_tile  ": "    BV = V\n" + CALL,
    "grid_not_tied_to_tile": "    BV = 32\n    kernel[(4,)](V=V, BV=BV)\n",
    "grid_not_tied_to_tile ": "    BV = 32\n    kernel[(triton.cdiv(V, 32) + 1,)](V=V, BV=BV)\n",
    "grid_not_tied_to_tile  ": "    kernel[(triton.cdiv(V, 32),)](V=V, BV=32, BK=32)\n",
    "tile_shared": "    BV = 32\n    buf = x.new_empty(BV)\n" + CALL,
    "tile_shared ": "    BV = 32\n    other[(triton.cdiv(V, BV),)](x)\n" + CALL,
    "tile_shared  ": (
        "    BV = 32\n    grid = (triton.cdiv(V, BV),)\n    other[grid](x)\n    kernel[grid](V=V, BV=BV)\n"
    ),
    "tile_shared   ": "    BV = 32\n    NV = triton.cdiv(V, BV)\n    other[(NV,)](x)\n    kernel[(NV,)](V=V, BV=BV)\n",
    "tile_shared    ": "    BV = 32\n    kernel[(triton.cdiv(V, BV), triton.cdiv(x, BV))](V=V, BV=BV)\n",
    "tile_shared     ": "    BV = 32\n    kernel[(triton.cdiv(V, BV),)](V=V, BV=BV, BK=BV)\n",
    "tile_unknown": "    kernel[(triton.cdiv(V, x.tile),)](V=V, BV=x.tile)\n",
    "tile_unknown ": "    BV = 8\n    BV *= 2\n" + CALL,
    "unknown_construct": "    BV = 8; W = 2\n    if W: BV = pick(V)\n" + CALL,
    "tile_through_kwargs": "    kernel[(triton.cdiv(V, opts['BV']),)](V=V, **opts)\n",
    "tile_through_kwargs ": "    kernel[(triton.cdiv(V, 8),)](V=V, **opts, **x)\n",
    "unreadable_launch": "    kernel[(triton.cdiv(V, 8),)](*x, BV=8)\n",
    "unreadable_launch ": "    kernel[make(V)](V=V, BV=8)\n",
    "unreadable_launch  ": "    go = kernel if V else other\n    go[(triton.cdiv(V, 8),)](V=V, BV=8)\n",
    "dtype_depends_on_tiles": "    BV = 32\n    NV = triton.cdiv(V, BV)\n"
    "    p = new(NV, dtype=a if NV == 1 else b)\n    kernel[(NV,)](V=V, BV=BV)\n",
    "dtype_depends_on_tiles ": "    BV = 32\n    p = new(dtype=a if triton.cdiv(V, BV) == 1 else b)\n" + CALL,
}


@pytest.mark.parametrize("code", REFUSED)
def test_refusals(host: Host, refused: Refused, code: str) -> None:
    case = host("@triton.jit\ndef other(x):\n    pass\n\n\ndef run(x, V, opts):\n" + REFUSED[code])
    found, lines = refused(lambda: set_tile(case.module, case.launches, "BV", "whole"))
    assert found == code.strip()
    assert lines and all(16 <= line <= len(case.text.splitlines()) for line in lines)


def test_decorated_choices_are_left_alone(host: Host, refused: Refused) -> None:
    for decorator, code in (
        ("@triton.autotune([triton.Config({'BV': 8})], key=[])", "tile_belongs_to_autotuner"),
        ("@triton.heuristics({'BV': lambda a: 8})", "tile_from_heuristic"),
    ):
        kernel = (
            f"import triton\n\n\n{decorator}\n@triton.jit\n"
            "def kernel(V, BV: triton.language.constexpr):\n    pass\n\n\n"
        )
        case = host("def run(V):\n    kernel[lambda m: (triton.cdiv(V, m['BV']),)](V)\n", kernel=kernel)
        found, lines = refused(lambda case=case: set_tile(case.module, case.launches, "BV", "whole"))
        assert (found, lines[0]) == (code, 4)


def test_a_constant_that_the_kernel_reads_is_shared(host: Host, refused: Refused) -> None:
    kernel = (
        "import triton\nBLOCK = 8\n\n\n@triton.jit\ndef kernel(V, BV: triton.language.constexpr):\n    V + BLOCK\n\n\n"
    )
    case = host("def run(V):\n    kernel[(triton.cdiv(V, BLOCK),)](V, BV=BLOCK)\n", kernel=kernel)
    assert refused(lambda: set_tile(case.module, case.launches, "BV", "whole")) == ("tile_shared", (7, 11))


def test_an_outer_function_reads_the_tile(host: Host, refused: Refused) -> None:
    text = (
        "def run(x, V):\n    BV = 32\n    {}\n    def go():\n"
        "        kernel[(triton.cdiv(V, BV),)](V=V, BV=BV)\n    go()\n"
    )
    assert changed(host(text.format("pass"))) == ["BV = triton.next_power_of_2(V)"]
    case = host(text.format("p = x.new_empty(BV)"))
    assert refused(lambda: set_tile(case.module, case.launches, "BV", "whole")) == (
        "tile_shared",
        (13, case.launch.line),
    )


def test_callers_that_compute_the_tile(host: Host, refused: Refused) -> None:
    case = host(
        "def go(V, BV):\n" + CALL + "\n\ndef run(V):\n    BV = 32\n    part = new(triton.cdiv(V, BV))\n    go(V, BV)\n"
    )
    assert refused(lambda: set_tile(case.module, case.launches, "BV", "whole"))[0] == "tile_shared"
    case = host("def go(V, BV=8):\n" + CALL + "\n\nrun = partial(go, BV=32)\n")
    assert refused(lambda: set_tile(case.module, case.launches, "BV", "whole"))[0] == "tile_unknown"
    case = host("def go(V, BV):\n" + CALL)
    assert refused(lambda: set_tile(case.module, case.launches, "BV", "whole"))[0] == "tile_unknown"
