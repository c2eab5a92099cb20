"""Tuning arguments of the launcher as decisions beside those of the skeleton: a block size, a split, an option."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace

from skel.store.schema import Skeleton

from ..conditions.launcher_arguments import LauncherArgument, launcher_arguments
from ..kernel.definition import KernelDef, Module
from ..reasons import refuse
from .candidate import KEPT, Setting
from .decisions import TILES, enumerate_decisions
from .estimates import KernelSizes

SPLITS = (1, 2, 4)
"""Numbers of blocks that are tried where the launcher lets callers choose one."""


def tuning_arguments(
    skeleton: Skeleton, module: Module, kernel: KernelDef, tile: str | None
) -> dict[str, LauncherArgument]:
    """The launcher's arguments that are decisions, by name. `tile` is the parameter that the skeleton widens.

    Left out are options that are decisions of the skeleton, tiles of other axes, and everything for a skeleton that
    does not tune launches.
    """
    decided = {d.name for d in skeleton.decisions}
    if "num_warps" not in decided:
        return {}
    return {
        a.name: a
        for a in launcher_arguments(module, kernel)
        if a.name not in decided
        and not decided & set(a.reaches)
        and (a.kind != "tile" or (a.reaches == (tile,) and "tile" in decided))
    }


def combinations(
    skeleton: Skeleton,
    module: Module,
    kernel: KernelDef,
    pinned: Mapping[str, Setting],
    sizes: KernelSizes,
    wide: bool,
    tile: str | None,
) -> Iterator[tuple[dict[str, Setting], KernelSizes]]:
    """Every combination of the skeleton's decisions and the launcher's arguments, with the sizes that it gives.

    Arguments keep their defaults unless they are pinned or `wide` asks for more. Raises Refuse: no_such_option,
    bad_setting.
    """
    arguments = tuning_arguments(skeleton, module, kernel, tile) if wide or _foreign(skeleton, pinned) else {}
    _require_known(skeleton, kernel, pinned, arguments)
    own = {name: value for name, value in pinned.items() if name not in arguments}
    spaces = {a.name: _values(a, pinned.get(a.name), wide) for a in arguments.values()}
    spaces = {name: values for name, values in spaces.items() if values != (KEPT,)}
    for values in itertools.product(*spaces.values()):
        chosen = dict(zip(spaces, values, strict=True))
        width = next((v for n, v in chosen.items() if arguments[n].kind == "tile" and v != KEPT), None)
        fixed, sized = dict(own), sizes
        if isinstance(width, int):
            if own.get("tile", KEPT) != KEPT and not any(name in pinned for name in chosen):
                continue  # The tile is pinned: the launcher's own argument keeps its default.
            if own.get("tile", KEPT) != KEPT:
                raise refuse(
                    "bad_setting",
                    kernel.node,
                    setting="tile",
                    value=own["tile"],
                    why="the launcher's own argument sets it",
                )
            fixed, sized = {**own, "tile": KEPT}, replace(sizes, tile=width)
            if not any(name in pinned for name in chosen):
                # A loop takes any tile by itself; here the argument alone is tried.
                fixed.setdefault("form", "widen")
                if fixed["form"] != "widen":
                    continue
        for one in enumerate_decisions(skeleton, module, kernel, fixed, sized, wide).combinations:
            if (
                width is not None
                and width == sizes.tile
                and {*one.values(), *chosen.values()} <= {KEPT, width, one.get("form")}
            ):
                continue  # The tile that the launcher takes anyway, and nothing else.
            yield one | chosen, sized


def _require_known(
    skeleton: Skeleton, kernel: KernelDef, pinned: Mapping[str, Setting], arguments: Mapping[str, LauncherArgument]
) -> None:
    have = [*(d.name for d in skeleton.decisions), *arguments]
    for name in pinned:
        if name not in have:
            listed = ", ".join(have) or "none"
            raise refuse("no_such_option", kernel.node, setting=name, skeleton=skeleton.name, have=listed)


def _foreign(skeleton: Skeleton, pinned: Mapping[str, Setting]) -> bool:
    return not pinned.keys() <= {d.name for d in skeleton.decisions}


def _values(argument: LauncherArgument, pinned: Setting | None, wide: bool) -> tuple[Setting, ...]:
    if pinned is not None:
        return (pinned,)
    tried = {"tile": TILES, "split": SPLITS, "option": ()}[argument.kind] if wide else ()
    return (KEPT, *(value for value in tried if value != argument.value))
