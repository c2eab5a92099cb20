"""Enumerating decisions: which values a skeleton's choices may take on this kernel."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skel.store.schema import Skeleton

from ..kernel.definition import KernelDef, Module
from ..kernel.idioms import follow
from ..kernel.launch import launches_of
from ..kernel.scope import reaching
from ..reasons import refuse
from .candidate import KEPT, Setting
from .estimates import KernelSizes
from .pinned import check_pinned

WARPS = (1, 2, 4, 8)
"""Warps a program that are tried."""
TILES = (16, 32, 64, 128)
"""Tiles that are tried, in lanes."""
MAX_STATE_REGISTERS = 256
"""Fp32 registers a thread past which a combination is not tried: 128 compile without spills on sm_90, 256 do not."""


@dataclass(frozen=True)
class Space:
    """The combinations of a skeleton's decisions on one kernel."""

    names: tuple[str, ...]
    combinations: tuple[dict[str, Setting], ...]


def enumerate_decisions(
    skeleton: Skeleton,
    module: Module,
    kernel: KernelDef,
    pinned: Mapping[str, Setting],
    sizes: KernelSizes,
    wide: bool = False,
) -> Space:
    """Every combination, with `pinned` decisions fixed; `wide` tries loops with other tiles than the launched one too.

    Raises Refuse: no_such_option for a pinned name that the skeleton does not have, bad_setting for a value it cannot
    take.
    """
    names = tuple(d.name for d in skeleton.decisions)
    for name, value in pinned.items():
        if name not in names:
            raise refuse(
                "no_such_option", kernel.node, setting=name, skeleton=skeleton.name, have=", ".join(names) or "none"
            )
        given = next(d.values for d in skeleton.decisions if d.name == name)
        if given and value not in given and value != KEPT:
            raise refuse(
                "bad_setting", kernel.node, setting=name, value=value, why=f"it may be {', '.join(map(str, given))}"
            )
        if not given:
            check_pinned(name, value)
    if {"form", "tile", "tiles", "num_warps"} <= set(names):
        return Space(names, tuple(_fusions(pinned, sizes, current_warps(module, kernel), wide)))
    if {"tiles", "num_warps"} <= set(names):
        loops = _fusions({**pinned, "form": "loop", "tile": KEPT}, sizes, current_warps(module, kernel), wide)
        return Space(names, tuple({k: v for k, v in c.items() if k in names} for c in loops))
    values = [(pinned[d.name],) if d.name in pinned else d.values or (KEPT,) for d in skeleton.decisions]
    return Space(names, tuple(dict(zip(names, one, strict=True)) for one in itertools.product(*values)))


def _fusions(
    pinned: Mapping[str, Setting], sizes: KernelSizes, warps: int | None, wide: bool
) -> Iterator[dict[str, Setting]]:
    """Widened tiles, and loops over tiles, with the warps that hold their state."""
    for form in _one_of(pinned, "form", ("loop", "widen")):
        if form not in ("loop", "widen"):
            raise refuse("bad_setting", 1, setting="form", value=form, why="it may be loop or widen")
        tiles = _one_of(
            pinned,
            "tile",
            sizes.wider_tiles(TILES) if form == "widen" else sizes.loop_tiles(TILES) if wide else (KEPT,),
        )
        for tile in tiles:
            counts = _one_of(pinned, "tiles", sizes.tile_counts(tile) if form == "loop" else (KEPT,))
            for count in counts:
                for w in _one_of(pinned, "num_warps", _warps(sizes, tile, warps)):
                    yield {"form": form, "tile": tile, "tiles": count, "num_warps": w}


def _warps(sizes: KernelSizes, tile: Setting, current: int | None) -> tuple[Setting, ...]:
    """Warps to try: as they are first, then those that keep the state within the registers."""
    fitting = [w for w in WARPS if w != current and sizes.state_registers(tile, w) <= MAX_STATE_REGISTERS]
    return (KEPT, *fitting)


def _one_of(pinned: Mapping[str, Setting], name: str, values: tuple[Setting, ...]) -> tuple[Setting, ...]:
    return (pinned[name],) if name in pinned else values


def _number(module: Module, value: ast.expr) -> int | None:
    """The number that stands there: a literal, a name assigned once, or the default of the launcher's argument."""
    value, _ = follow(module, value)
    if isinstance(value, ast.Name):
        bindings = reaching(module.source, value.id, value)
        if len(bindings) == 1 and bindings[0].kind == "parameter" and bindings[0].value is not None:
            value = bindings[0].value
    return value.value if isinstance(value, ast.Constant) and type(value.value) is int else None


def current_warps(module: Module, kernel: KernelDef) -> int | None:
    """Warps of the launches where they are one plain number; Triton's default of 4 where none is given."""
    found: set[int | None] = set()
    for launch in launches_of(module, kernel):
        keyword = launch.options.get("num_warps")
        if keyword is None:
            found.add(None if launch.splats or kernel.autotune is not None else 4)
        else:
            found.add(_number(module, keyword.value))
    return found.pop() if len(found) == 1 else None
