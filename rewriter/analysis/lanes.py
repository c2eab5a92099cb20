"""What a kernel is along one tiled axis: every store's class, what no mask covers, and the verdict they add up to."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from skel.store.schema import Refusal

from ..reasons import refusal
from .axes import Axis
from .events import Access
from .facts import Facts
from .poly import Poly
from .stores import Classified, StoreClass, classify, place_name
from .syntax import assigned_names, is_constexpr_test, symbols_in


@dataclass(frozen=True, slots=True)
class LaneReport:
    """One kernel along one tiled axis."""

    axis: Axis
    name: str
    """What the kernel calls the axis."""
    tiles: tuple[str, ...]
    """Keys of the tile's size: the constexpr parameter's name, or a number."""
    stores: tuple[Classified, ...]
    uncovered: tuple[Access, ...]
    """Accesses along the lanes that no bound cuts."""
    refusals: tuple[Refusal, ...]
    """Why tiles cannot be merged; empty where they can (given covered accesses)."""

    @property
    def verdict(self) -> str:
        """`separable`, `linear_partials`, `nonlinear_partials`, `blocked` or `unknown`."""
        codes = {r.code for r in self.refusals}
        if codes & {"lane_order_unknown", "unknown_construct", "opaque_call"}:
            return "unknown"
        if codes & {"reduction_over_tile_axis", "nonlinear_partial"}:
            return "nonlinear_partials"
        if codes:
            return "blocked"
        return "linear_partials" if any(c.store_class is StoreClass.SLOT for c in self.stores) else "separable"


def lane_report(
    facts: Facts, axis: Axis, aliases: Mapping[str, str] | None = None, derived: frozenset[str] = frozenset()
) -> LaneReport:
    """Classify every store along `axis`.

    `aliases` maps parameters that share memory to one of them; `derived` are parameters whose argument follows from
    the tile, such as the number of tiles.
    """
    aliases = aliases or {}
    name = facts.axis_name(axis)
    tiles = facts.tile_sizes(axis)
    symbols = frozenset(part for t in tiles for part in t.replace("+", "*").split("*") if part.isidentifier()) | derived
    written = written_bases(facts, aliases)
    stores = tuple(classify(a, axis, name, symbols, written) for a in facts.stores)
    refusals = [c.refusal for c in stores if c.refusal is not None]
    refusals += _control(facts, axis, name, symbols)
    refusals += _in_place(facts, axis, name, aliases)
    refusals += _shared_tile(facts, axis, symbols)
    if not facts.stores:
        refusals.append(refusal("unknown_construct", facts.kernel.node, construct="a kernel that stores nothing"))
    return LaneReport(axis, name, tiles, stores, _uncovered(facts, axis), tuple(dict.fromkeys(refusals)))


def _shared_tile(facts: Facts, axis: Axis, tiles: frozenset[str]) -> list[Refusal]:
    """Lanes of another axis in tiles of the same size: those would change as well."""
    for events in facts.runs:
        for node, value in events.values.items():
            for dim in value.dims or ():
                other = dim.lanes and not any(lane.overlaps(axis) for lane in dim.lanes)
                if other and dim.size is not None and symbols_in(dim.size) & tiles:
                    return [refusal("tile_used_otherwise", node, tile=", ".join(sorted(symbols_in(dim.size) & tiles)))]
    return []


def written_bases(facts: Facts, aliases: Mapping[str, str]) -> frozenset[str]:
    """Parameters whose memory the kernel writes, with everything that shares it."""
    direct = {aliases.get(b, b) for a in facts.stores for b in a.pointer.bases}
    return frozenset(direct | {p for p, q in aliases.items() if q in direct})


def _uncovered(facts: Facts, axis: Axis) -> tuple[Access, ...]:
    return tuple(a for a in facts.accesses if axis in a.pointer.lanes and not any(x == axis for x, _ in a.covered))


def _control(facts: Facts, axis: Axis, name: str, tiles: frozenset[str]) -> list[Refusal]:
    """Exits and barriers that tiles do not share, and calls that may do anything."""
    found: list[Refusal] = []
    for exit_ in facts.exits:
        if exit_.path and not any(s.path[: len(exit_.path)] == exit_.path for s in facts.stores):
            # It leaves a helper that stores nothing: what the helper returns depends on the condition, no more.
            continue
        test = next((c.test for c in exit_.conditions if c.value.symbols & tiles), None)
        if test is not None:
            found.append(refusal("tile_used_otherwise", test, tile=", ".join(sorted(tiles))))
        if any(c.value.depends_on(axis) for c in exit_.conditions):
            found.append(refusal("tile_dependent_exit", exit_.node, also=[c.test for c in exit_.conditions], axis=name))
    if any(str(k) == axis.root or k == -1 for k in facts.program_counts):
        found.append(refusal("grid_barrier", facts.kernel.node, axis=name))
    for unknown in facts.unknowns:
        inputs = unknown.inputs
        if inputs.bases and not _harmless(unknown.what):
            found.append(refusal("opaque_call", unknown.node, callee=unknown.what))
        elif unknown.what in _CONTROL or unknown.what.startswith("assignment to "):
            found.append(refusal("unknown_construct", unknown.node, construct=unknown.what))
    return found


_CONTROL = frozenset(
    {"Raise", "Try", "TryStar", "With", "Delete", "Break", "Continue", "Match", "FunctionDef", "Nonlocal"}
)
"""Statements that Triton does not take, or that end a block early."""


def _harmless(callee: str) -> bool:
    """Reads of types and shapes, which touch no memory."""
    return callee.split(".")[-1] in (
        "is_ptr",
        "is_fp8",
        "is_int_unsigned",
        "get_int_dtype",
        "pointer_type",
        "is_block",
        "dtype",
        "is_floating",
        "is_int",
    )


def _in_place(facts: Facts, axis: Axis, name: str, aliases: Mapping[str, str]) -> list[Refusal]:
    """Memory that one tile writes along its lanes and another reads elsewhere.

    Programs run in any order, so a kernel that means it is racy; one that only looks so is refused as well.
    """
    arms = _ArmsTaken(facts)
    return [
        refusal("inplace_not_separated", store.line, also=[load.line], axis=name, name=place_name(store))
        for events in facts.runs
        for store in events.accesses.values()
        if store.kind != "load" and axis in store.pointer.lanes
        for load in events.accesses.values()
        if load.kind == "load"
        and not {aliases.get(b, b) for b in store.pointer.bases}.isdisjoint(
            aliases.get(b, b) for b in load.pointer.bases
        )
        and not _same_lanes(store.pointer.poly, load.pointer.poly, axis)
        and not arms.exclude_each_other(store, load)
    ]


class _ArmsTaken:
    """Which arms of the kernel's own constexpr tests an access stands in."""

    def __init__(self, facts: Facts) -> None:
        kernel = facts.kernel.node
        self._fixed = facts.kernel.constexprs - assigned_names(kernel.body)
        self._own = set(ast.walk(kernel))  # a helper's test may name other things alike

    def exclude_each_other(self, a: Access, b: Access) -> bool:
        """True where the two stand in different arms of one test: no launch makes both."""
        arms, others = self._of(a), self._of(b)
        return any(others.get(test, holds) != holds for test, holds in arms.items())

    def _of(self, access: Access) -> dict[str, bool]:
        tests = [c for c in access.conditions if c.test in self._own and is_constexpr_test(c.test, self._fixed)]
        return {ast.unparse(c.test): c.holds for c in tests}


def _same_lanes(a: Poly | None, b: Poly | None, axis: Axis) -> bool:
    """True where two offsets run along the lanes of `axis` alike, and differ by no plain number."""
    if a is None or b is None:
        return False
    lanes_a, lanes_b = _lane_terms(a, axis), _lane_terms(b, axis)
    if not lanes_a or lanes_a != lanes_b:
        return False
    return _plain(a) == _plain(b)


def _lane_terms(poly: Poly, axis: Axis) -> frozenset[tuple[int, tuple[str, ...]]]:
    """Terms along the lanes, with the place where the range was made left out."""
    return frozenset(
        (
            c,
            tuple(
                sorted(
                    f"L{a.axis}{a.size}"
                    if a.kind == "lane"
                    else a.key.split(":")[0]
                    if a.key.startswith("stride:")
                    else a.key
                    for a in m
                )
            ),
        )
        for m, c in poly.terms
        if any(a.kind == "lane" and axis in a.axes for a in m)
    )


def _plain(poly: Poly) -> int:
    return next((c for m, c in poly.terms if not m), 0)
