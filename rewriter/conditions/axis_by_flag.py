"""axis_by_flag: a constexpr flag decides which program id walks the tiles.

    if SPLIT:
        i_v, i_n = tl.program_id(0), tl.program_id(1)
    else:
        i_k, i_v = tl.program_id(0), tl.program_id(1)

No axis is the tiled one for all launches then; what can be said is said for each value of the flag.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from ..analysis.axes import Axis
from ..analysis.facts import Facts


@dataclass(frozen=True)
class FlaggedAxis:
    """The facts for either value of a flag, and the axis that walks the same tiles there."""

    flag: str
    tile: str
    held: tuple[Facts, Axis]
    otherwise: tuple[Facts, Axis]


def axis_by_flag(facts: Facts) -> FlaggedAxis | None:
    """The flag that moves a tiled axis to another program id; None where there is none."""
    for flag in facts.split:
        held, otherwise = _side(facts, flag, True), _side(facts, flag, False)
        first, second = _walkers(held), _walkers(otherwise)
        for tile in sorted(first.keys() & second.keys()):
            if first[tile] != second[tile]:
                return FlaggedAxis(flag, tile, (held, first[tile]), (otherwise, second[tile]))
    return None


def _side(facts: Facts, flag: str, value: bool) -> Facts:
    """The runs in which the flag has that value."""
    place = facts.split.index(flag)
    choices = itertools.product((True, False), repeat=len(facts.split))
    runs = tuple(run for choice, run in zip(choices, facts.runs, strict=True) if choice[place] is value)
    return Facts(facts.module, facts.kernel, runs, facts.split)


def _walkers(facts: Facts) -> dict[str, Axis]:
    """The axis that walks each tile parameter, where just one does."""
    found: dict[str, list[Axis]] = {}
    for axis in facts.tiled_axes:
        sizes = facts.tile_sizes(axis)
        if len(sizes) == 1 and sizes[0] in facts.kernel.constexprs:
            found.setdefault(sizes[0], []).append(axis)
    return {tile: axes[0] for tile, axes in found.items() if len(axes) == 1}
