"""From a skeleton and a file's text to candidates, or to the reasons why not. Never raises on a user's kernel."""

from __future__ import annotations

import traceback
from collections.abc import Mapping

from skel.store.schema import Finding, Place, Refusal, Skeleton

from ..analysis.facts import analyse
from ..conditions.context import FusionContext
from ..conditions.fusable_axis import choose_axis
from ..kernel.definition import KernelDef, Module, choose_kernel, load_module
from ..reasons import Refuse, finding
from ..result import Bug, Refused
from .candidate import Candidate, Candidates, Setting
from .decisions import current_warps
from .estimates import KernelSizes, sizes_of
from .rank import rank_of
from .schedule import Memory, apply_schedule
from .tuning import combinations

ENOUGH = 8
"""Candidates made unless more are asked for; the best by rank."""
FUSIONS = frozenset({"fuse_axis_widen", "fuse_axis_loop"})


def candidates(
    skeleton: Skeleton,
    text: str,
    path: str,
    kernel: str | None = None,
    settings: Mapping[str, Setting] | None = None,
    target: str = "sm_90",
    known: Mapping[str, int] | None = None,
    wide: bool = False,
) -> Candidates | Refused | Bug:
    """Every way to apply `skeleton` to a kernel of the file, best rank first.

    `kernel` names one; without it, the first kernel of the file to which the skeleton applies is taken. `settings` pins
    decisions, `known` gives values of kernel parameters where a launch was recorded, `wide` asks for more combinations.
    """
    try:
        return _candidates(skeleton, text, path, kernel, dict(settings or {}), target, dict(known or {}), wide)
    except Refuse as refused:
        return Refused(refused.refusals)
    except Exception:  # a fault of ours must not end a user's scan or a batch
        return Bug(f"applying {skeleton.name} to {path}", traceback.format_exc())


def _candidates(
    skeleton: Skeleton,
    text: str,
    path: str,
    kernel: str | None,
    settings: dict[str, Setting],
    target: str,
    known: dict[str, int],
    wide: bool,
) -> Candidates | Refused:
    module = load_module(text, path)
    if kernel is not None:
        return _of_kernel(skeleton, module, choose_kernel(module, kernel), settings, target, known, wide)
    if not module.kernels:
        choose_kernel(module, "")
    refusals: list[Refusal] = []
    for one in module.entry_kernels or module.kernels:
        if len(module.kernels_named(one.name)) > 1:
            continue
        try:
            found = _of_kernel(skeleton, module, one, settings, target, known, wide)
        except Refuse as refused:
            found = Refused(refused.refusals)
        if isinstance(found, Candidates):
            return found
        refusals += [r for r in found.refusals if r not in refusals]
    if not refusals:
        choose_kernel(module, module.kernels[0].name)
    return Refused(tuple(refusals))


def _of_kernel(
    skeleton: Skeleton,
    module: Module,
    kernel: KernelDef,
    settings: dict[str, Setting],
    target: str,
    known: dict[str, int],
    wide: bool,
) -> Candidates | Refused:
    context = _fusion(skeleton, module, kernel, settings)
    sizes = sizes_of(context, known)
    tile = context.tile if context is not None else None
    space = combinations(skeleton, module, kernel, settings, sizes, wide, tile)
    warps = current_warps(module, kernel)
    items: dict[str, Candidate] = {}
    memory: Memory = {}
    refusals: dict[Refusal, list[str]] = {}
    ranked = sorted(
        ((rank_of(c, sized, warps, i), c) for i, (c, sized) in enumerate(space)), key=lambda pair: pair[0]
    )
    for rank, combination in ranked:
        if len(items) == ENOUGH and not wide:
            break
        name = candidate_name(combination)
        try:
            new, numerics = apply_schedule(skeleton, module, kernel.name, combination, memory)
        except Refuse as refused:
            for reason in refused.refusals:
                refusals.setdefault(reason, []).append(name)
            continue
        if new == module.source.text or any(c.text == new for c in items.values()):
            continue
        items[name] = Candidate(name, new, dict(combination), numerics, rank)
    if not items:
        if not refusals:
            raise_nothing(skeleton, kernel)
        return Refused(tuple(refusals))
    left_out = tuple(_left_out(module, kernel, reason, names) for reason, names in refusals.items())
    return Candidates(kernel.name, tuple(sorted(items.values(), key=lambda c: (c.rank, c.name))), left_out)


def _fusion(
    skeleton: Skeleton, module: Module, kernel: KernelDef, settings: dict[str, Setting]
) -> FusionContext | None:
    """What is fused, for skeletons that fuse; sizes come from it."""
    if not any(step.primitive in FUSIONS for step in skeleton.schedule):
        return None
    axis = settings.get("axis")
    return choose_axis(analyse(module, kernel), axis if isinstance(axis, str) else None)


def raise_nothing(skeleton: Skeleton, kernel: KernelDef) -> None:
    """Raises Refuse(pattern_not_found): the schedule would change nothing."""
    from ..reasons import refuse

    raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton=skeleton.name)


def _left_out(module: Module, kernel: KernelDef, reason: Refusal, names: list[str]) -> Finding:
    place = Place(file=module.source.path, line=reason.line, kernel=kernel.name)
    return finding(
        "candidate_refused",
        place,
        candidate=", ".join(names[:4]) + (", ..." if len(names) > 4 else ""),
        why=f"{reason.code}: {reason.message}",
    )


def candidate_name(settings: Mapping[str, Setting]) -> str:
    """`loop-all-4w`: the settings that are not `kept`, in order."""
    parts = []
    for name, value in settings.items():
        if value == "kept":
            continue
        parts.append(
            f"{value}w"
            if name == "num_warps"
            else f"tile{value}"
            if name == "tile"
            else f"x{value}"
            if name == "tiles"
            else f"{name}{value}"
            if type(value) is int
            else str(value)
        )
    return "-".join(parts) or "rewritten"


__all__ = ["KernelSizes", "candidate_name", "candidates"]
