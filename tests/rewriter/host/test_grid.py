"""Reading grids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skel.rewriter.kernel.grid import read_grid

Host = Callable[..., Any]
Refused = Callable[..., tuple[str, tuple[int, ...]]]


@pytest.mark.parametrize(
    ("body", "form", "dims", "meta"),
    [
        ("    kernel[(V, 2)](V)\n", "tuple", ["V", "2"], None),
        ("    kernel[V, 2](V)\n", "tuple", ["V", "2"], None),
        ("    kernel[[V, 2]](V)\n", "list", ["V", "2"], None),
        ("    kernel[V * 2](V)\n", "single", ["V * 2"], None),
        ("    grid = (V, 2)\n    kernel[grid](V)\n", "tuple", ["V", "2"], None),
        ("    g = (V, 2)\n    grid = g\n    kernel[grid](V)\n", "tuple", ["V", "2"], None),
        ("    kernel[lambda META: (V // META['BV'],)](V)\n", "lambda", ["V // META['BV']"], "META"),
        ("    grid = lambda m: (V, m['BK'])\n    kernel[grid](V)\n", "lambda", ["V", "m['BK']"], "m"),
        ("    def grid(meta): return (V, 2)\n    kernel[grid](V)\n", "def", ["V", "2"], "meta"),
        (
            "    def grid(meta):\n        n = V * 2\n        out = (n, 2)\n        return out\n    kernel[grid](V)\n",
            "def",
            ["n", "2"],
            "meta",
        ),
    ],
)
def test_forms(host: Host, body: str, form: str, dims: list[str], meta: str | None) -> None:
    case = host("def run(V):\n" + body)
    grid = read_grid(case.module, case.launch)
    assert (grid.form, [case.source(d) for d in grid.dims], grid.meta) == (form, dims, meta)
    assert len(grid.choices) == 1


def test_module_level_grid_function(host: Host) -> None:
    case = host("def grid(meta):\n    return (meta['V'], 1)\n\n\ndef run(V):\n    kernel[grid](V)\n")
    grid = read_grid(case.module, case.launch)
    assert grid.form == "def" and grid.choices[0].bindings[0].name == "grid"


@pytest.mark.parametrize(
    "body",
    [
        "    grid = (V, 1) if V else (2, V)\n    kernel[grid](V)\n",
        "    if V:\n        grid = (V, 1)\n    else:\n        grid = (2, V)\n    kernel[grid](V)\n",
        "    def grid(m):\n        if V:\n            return (V, 1)\n        return (2, V)\n    kernel[grid](V)\n",
    ],
)
def test_several_choices(host: Host, body: str) -> None:
    case = host("def run(V):\n" + body)
    grid = read_grid(case.module, case.launch)
    assert sorted(case.source(d) for d in grid.axis(0)) == ["2", "V"]
    assert grid.axis(5) == ()


@pytest.mark.parametrize(
    "body",
    [
        "    grid = (V,) if V else (V, 2)\n    kernel[grid](V)\n",
        "    grid = pick(V)\n    kernel[grid](V)\n",
        "    grid, block = pick(V)\n    kernel[grid](V)\n",
        "    grid = (V,)\n    grid += (2,)\n    kernel[grid](V)\n",
        "    kernel[pick(V)](V)\n",
        "    kernel[(V,) + extra](V)\n",
        "    kernel[(V, *extra)](V)\n",
        "    kernel[self.grid](V)\n",
        "    kernel[unknown](V)\n",
        "    kernel[lambda a, b: (a, b)](V)\n",
        "    def grid(meta):\n        meta['x']\n    kernel[grid](V)\n",
        "    for grid in V:\n        kernel[grid](V)\n",
    ],
)
def test_unreadable(host: Host, refused: Refused, body: str) -> None:
    case = host("def run(V, extra):\n" + body)
    code, lines = refused(lambda: read_grid(case.module, case.launch))
    assert code == "unreadable_launch" and lines[0] == case.launch.line


def test_the_callers_grid_is_unreadable(host: Host, refused: Refused) -> None:
    case = host("def run(V, grid):\n    kernel[grid](V)\n")
    assert refused(lambda: read_grid(case.module, case.launch))[0] == "unreadable_launch"
