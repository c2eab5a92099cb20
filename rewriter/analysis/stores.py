"""Store classes along an axis: lane-addressed, guarded, invariant, slot, or other.

The classes are what makes merging tiles legal; see docs/design.md for the reasoning. Everything here reads facts of
one access; conditions over whole kernels are in `rewriter/conditions/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from skel.store.schema import Refusal

from ..reasons import refusal
from .axes import Axis
from .events import Access
from .value import Cross, Value


class StoreClass(StrEnum):
    """How a store or atomic behaves along one axis."""

    LANE = "L"
    """Its address runs along the axis' lanes, so every tile writes its own part."""
    GUARDED = "G"
    """It runs in the first tile only, with a value free of the axis' lanes."""
    INVARIANT = "I"
    """Neither address nor value depends on the axis, and the value is not read from memory the kernel writes."""
    SLOT = "S"
    """A partial that is linear in the lanes goes to the tile's own slot, or into an atomic add."""
    OTHER = "R"
    """Anything else: the result depends on the tile."""


@dataclass(frozen=True, slots=True)
class Classified:
    """One access with its class; of `OTHER`, why."""

    access: Access
    store_class: StoreClass
    refusal: Refusal | None = None


def classify(access: Access, axis: Axis, name: str, tiles: frozenset[str], written: frozenset[str]) -> Classified:
    """The class of a store or atomic along `axis`.

    `name` is what the kernel calls the axis, `tiles` the constexpr parameters that size its tiles, `written` the
    parameters (with their aliases) whose memory the kernel writes.
    """
    problem = _problem(access, axis, name, tiles)
    if problem is not None:
        return Classified(access, StoreClass.OTHER, problem)
    pointer, value = access.pointer, access.value or Value()
    if _crossed_twice(pointer, axis) or _crossed_twice(value, axis):
        return _other(access, "lane_order_unknown", axis=name, op="two dimensions at once")
    crosses = crosses_of(value, axis)
    if crosses:
        return _partial(access, axis, name, crosses)
    if any(lane.overlaps(axis) for lane in pointer.lanes):
        return _lane_addressed(access, axis, name)
    if _uniform(pointer, axis):
        return _other(access, "axis_used_otherwise", axis=name)
    return _shared_place(access, axis, name, written)


def _problem(access: Access, axis: Axis, name: str, tiles: frozenset[str]) -> Refusal | None:
    """What rules every class out: lost lanes, a branch or mask that differs between tiles, use of the tile's size."""
    parts = [p for p in (access.pointer, access.value, access.mask) if p is not None]
    for part in parts:
        for lost in part.lost:
            if lost.axis.overlaps(axis):
                return refusal(
                    "lane_order_unknown", lost.line or access.line, also=[access.line], axis=name, op=lost.operation
                )
    for condition in access.conditions:
        if condition.value.symbols & tiles:
            return refusal("tile_used_otherwise", condition.test, also=[access.line], tile=_names(tiles))
        if is_guard(condition.value, axis) and condition.holds:
            continue
        if condition.value.depends_on(axis):
            return refusal("axis_used_otherwise", condition.test, also=[access.line], axis=name)
    mask = access.mask
    if mask is not None and not is_guard(mask, axis) and (_uniform(mask, axis) or crosses_of(mask, axis)):
        return refusal("axis_used_otherwise", access.line, axis=name)
    for part in parts:
        if part.symbols & tiles and not (part is access.pointer and is_slot(access, axis)):
            return refusal("tile_used_otherwise", access.line, tile=_names(tiles))
    return None


def is_slot(access: Access, axis: Axis) -> bool:
    """True for a partial stored at a place of its tile's own: such a place may follow from the number of tiles."""
    pointer, value = access.pointer, access.value or Value()
    return (
        access.kind == "store"
        and bool(crosses_of(value, axis))
        and _uniform(pointer, axis)
        and not lanes_of(pointer, axis)
    )


def lanes_of(value: Value, axis: Axis) -> tuple[int, ...]:
    """Dimensions on which lanes of the axis lie."""
    return tuple(i for i, d in enumerate(value.dims or ()) if any(lane.overlaps(axis) for lane in d.lanes))


def _crossed_twice(value: Value, axis: Axis) -> bool:
    """True for a block that pairs lanes of the axis with each other: a tile holds only the pairs inside it."""
    return len(lanes_of(value, axis)) > 1


def _names(tiles: frozenset[str]) -> str:
    return ", ".join(sorted(tiles))


def _partial(access: Access, axis: Axis, name: str, crosses: tuple[Cross, ...]) -> Classified:
    """A value reduced over the tile's lanes: it may go to a slot or an atomic add if it is linear, nowhere else."""
    lines = sorted({c.line for c in crosses if c.line})
    pointer, value = access.pointer, access.value or Value()
    linear = all(c.linear for c in crosses) and not _uniform(value, axis)
    lanes = any(lane.overlaps(axis) for lane in pointer.lanes)
    slotted = access.kind == "store" and _uniform(pointer, axis) and not lanes
    added = access.kind == "atomic_add" and not pointer.depends_on(axis)
    if (slotted or added) and is_guarded(access, axis):
        # Only the first tile's partial: how much that is follows from the tile.
        return _other(access, "axis_used_otherwise", axis=name)
    if (slotted or added) and linear:
        return Classified(access, StoreClass.SLOT)
    if slotted or added:
        return Classified(
            access,
            StoreClass.OTHER,
            refusal("nonlinear_partial", lines[0] if lines else access.line, also=[*lines, access.line], axis=name),
        )
    operation = ", ".join(sorted({c.operation for c in crosses}))
    return Classified(
        access,
        StoreClass.OTHER,
        refusal(
            "reduction_over_tile_axis",
            lines[0] if lines else access.line,
            also=[*lines, access.line],
            axis=name,
            op=operation,
        ),
    )


def _lane_addressed(access: Access, axis: Axis, name: str) -> Classified:
    value = access.value or Value()
    if _uniform(access.pointer, axis) or _uniform(value, axis) or is_guarded(access, axis):
        # Under a guard only the first tile's lanes are stored: which they are is the tile's own size.
        return _other(access, "axis_used_otherwise", axis=name)
    return Classified(access, StoreClass.LANE)


def is_guarded(access: Access, axis: Axis) -> bool:
    """True where the access happens in the first tile only."""
    mask = access.mask
    return any(is_guard(c.value, axis) and c.holds for c in access.conditions) or (
        mask is not None and is_guard(mask, axis)
    )


def _shared_place(access: Access, axis: Axis, name: str, written: frozenset[str]) -> Classified:
    """All tiles touch the same place: only one may write, or all the same value."""
    value = access.value or Value()
    target = place_name(access)
    if value.depends_on(axis):
        return _other(access, "unguarded_invariant_store", axis=name, name=target)
    if is_guarded(access, axis):
        return Classified(access, StoreClass.GUARDED)
    if access.kind != "store":
        code = "atomic_invariant" if access.kind == "atomic_add" else "atomic_not_separated"
        return _other(access, code, axis=name)
    read = [
        value,
        access.pointer,
        *([access.mask] if access.mask is not None else []),
        *(c.value for c in access.conditions),
    ]
    if any(part.memory & written for part in read):
        return _other(access, "inplace_not_separated", axis=name, name=target)
    return Classified(access, StoreClass.INVARIANT)


def _other(access: Access, code: str, **fields: object) -> Classified:
    return Classified(
        access,
        StoreClass.OTHER,
        refusal(code, access.line, also=[access.node.lineno] if not access.path else [], **fields),
    )


def place_name(access: Access) -> str:
    """The parameters an access points into, for messages."""
    return ", ".join(sorted(access.pointer.bases)) or "memory"


def is_guard(value: Value, axis: Axis) -> bool:
    """True where the condition holds in the first tile of `axis` only.

    Only where that tile is what the condition turns on: parts of it that vary otherwise must not depend on the axis.
    """
    return (
        any(g == axis or (g.root == axis.root and axis.steps[: len(g.steps)] == g.steps) for g in value.guards)
        and not any(lane.overlaps(axis) for lane in value.lanes)
        and not crosses_of(value, axis)
    )


def crosses_of(value: Value, axis: Axis) -> tuple[Cross, ...]:
    return tuple(c for c in value.cross if c.axis.overlaps(axis))


def _uniform(value: Value, axis: Axis) -> bool:
    return any(a.overlaps(axis) for a in value.uniform)
