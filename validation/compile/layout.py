"""Reads from TTGIR whether a reduction stays inside a warp. Pure: text in, figures out.

A reduction that crosses warps goes through shared memory and a barrier. Source alone does not tell: coalescing chooses
the layout.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil

_ALIAS = re.compile(r"^(#\w+)\s*=\s*(#ttg\.\w+<.*>|#ttng\.\w+<.*>)\s*$", re.MULTILINE)
_REDUCE = re.compile(r'"tt\.(reduce|scan)"\(.*?\)\s*<\{[^}]*?axis\s*=\s*(\d+)')
_OPERAND = re.compile(r":\s*\(tensor<([0-9x]+)x[a-zA-Z0-9]+,\s*(#\S+?|#ttg\.slice<\{.*?\}>)>[,)]")
_LINE = re.compile(r"loc\((#loc\d*)\)\s*$")


@dataclass(frozen=True, slots=True)
class Reduction:
    """One reduction: its operand's shape, the axis, and over how many warps the axis is spread."""

    shape: tuple[int, ...]
    axis: int
    warps: int
    """1 where it stays inside a warp."""
    layout: str


def reductions(ttgir: str) -> list[Reduction]:
    """Every `tt.reduce` and `tt.scan` of a module whose layout is understood, in order."""
    aliases = dict(_ALIAS.findall(ttgir))
    found = []
    for match in _REDUCE.finditer(ttgir):
        operand = _OPERAND.search(ttgir, match.end())
        if operand is None:
            continue
        shape = tuple(int(size) for size in operand.group(1).split("x"))
        layout = expand(operand.group(2), aliases)
        warps = warps_along(layout, int(match.group(2)), shape)
        if warps is not None:
            found.append(Reduction(shape, int(match.group(2)), warps, layout))
    return found


def expand(layout: str, aliases: dict[str, str]) -> str:
    """The layout with every alias (`#blocked1`) written out."""
    for _ in range(8):
        wider = re.sub(r"#(?!ttg\.|ttng\.)\w+", lambda m: aliases.get(m.group(0), m.group(0)), layout)
        if wider == layout:
            break
        layout = wider
    return layout


def warps_along(layout: str, axis: int, shape: tuple[int, ...]) -> int | None:
    """How many warps hold different parts of a tensor along `axis`; None for a layout that is not understood."""
    if layout.startswith("#ttg.slice<"):
        dropped = re.match(r"#ttg\.slice<\{dim = (\d+), parent = (.*)\}>$", layout)
        if dropped is None:
            return None
        dim = int(dropped.group(1))
        wider = (*shape[:dim], 1, *shape[dim:])
        return warps_along(dropped.group(2), axis if axis < dim else axis + 1, wider)
    if layout.startswith("#ttg.linear<"):
        bases = re.search(r"warp = \[((?:\[[^\]]*\](?:, )?)*)\]", layout)
        if bases is None:
            return None
        along = [_numbers(basis)[axis] for basis in re.findall(r"\[([^\]]*)\]", bases.group(1))]
        return int(2 ** sum(step != 0 for step in along))
    warps = _field("warpsPerCTA", layout)
    if warps is None or axis >= len(warps):
        return None
    per_thread, threads = _field("sizePerThread", layout), _field("threadsPerWarp", layout)
    if per_thread is None or threads is None:
        return warps[axis]
    return min(warps[axis], ceil(shape[axis] / (per_thread[axis] * threads[axis])))


def _field(name: str, layout: str) -> list[int] | None:
    found = re.search(rf"{name} = \[([^\]]*)\]", layout)
    return _numbers(found.group(1)) if found else None


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number.strip()]
