"""Dividing a kernel's body by what depends on a tile: what may run once before a loop over tiles, and what may not."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from .axes import Axis
from .events import Access
from .facts import Facts
from .lanes import written_bases
from .statements import names_read, names_set
from .stores import is_guard
from .value import Value


@dataclass(frozen=True)
class TileSlice:
    """The top-level statements of a kernel, in order, divided."""

    once: tuple[ast.stmt, ...]
    """Before the loop, in their order."""
    repeated: tuple[ast.stmt, ...]
    """In the loop, in their order."""
    carried: frozenset[str]
    """Parameters that the loop would set for the next tile: nothing may be carried."""


def slice_body(
    facts: Facts, axis: Axis, body: list[ast.stmt], aliases: Mapping[str, str], fixed: frozenset[ast.stmt]
) -> TileSlice:
    """Divide `body`. `fixed` are the statements that decode the axis: they stay before the loop.

    A statement repeats where it depends on the axis, does something to memory that is not the same once (any store
    after the first tile's work, any atomic), reads what a repeated statement sets, sets what one reads or sets, or ends
    the kernel after one that stores.
    """
    written = written_bases(facts, aliases)
    # What names the index repeats also where its value does not matter: before the loop there is no such name.
    name = facts.axis_name(axis)
    repeated = {
        s
        for s in body
        if s not in fixed and (depends_on_axis(facts, axis, s) or _atomic(facts, axis, s) or name in names_read(s))
    }
    changed = True
    while changed:
        changed = False
        for statement in body:
            if statement in repeated or statement in fixed:
                continue
            if _must_repeat(facts, statement, body, repeated, written):
                repeated.add(statement)
                changed = True
    loop = tuple(s for s in body if s in repeated)
    parameters = frozenset(facts.kernel.parameter_names)
    carried = frozenset(n for s in loop for n in names_set(s)) & parameters
    return TileSlice(tuple(s for s in body if s not in repeated), loop, carried)


def _must_repeat(
    facts: Facts, statement: ast.stmt, body: list[ast.stmt], repeated: set[ast.stmt], written: frozenset[str]
) -> bool:
    """True where the statement cannot stand before the loop, given what is already in it."""
    place = body.index(statement)
    earlier = [s for s in body[:place] if s in repeated]
    sets, reads = names_set(statement), names_read(statement)
    if any(names_set(s) & (reads | sets) for s in earlier):
        return True
    if any(names_read(s) & sets for s in earlier):
        # An earlier statement of the loop reads the name's older value.
        return True
    later = [s for s in body[place + 1 :] if s in repeated]
    if any(names_set(s) & sets for s in later):
        # The loop sets the name again: the next tile would start from the wrong value.
        return True
    if not earlier:
        return False
    if any(isinstance(n, ast.Call) and called_name(n) in ORDERED for n in ast.walk(statement)):
        return True
    if any(a.kind != "load" for a in accesses_in(facts, statement)):
        return True
    if _leaves(statement) and any(_acts(facts, s) for s in earlier):
        # What was stored before the kernel ends must still be stored.
        return True
    return any(a.pointer.bases & written for a in accesses_in(facts, statement))


def _leaves(statement: ast.stmt) -> bool:
    return any(isinstance(n, ast.Return) for n in ast.walk(statement))


def _acts(facts: Facts, statement: ast.stmt) -> bool:
    """True where the statement does something that is seen although the kernel ends after it."""
    if any(a.kind != "load" for a in accesses_in(facts, statement)):
        return True
    return any(isinstance(n, ast.Call) and called_name(n) in ORDERED for n in ast.walk(statement))


ORDERED = frozenset({"debug_barrier", "gdc_wait", "gdc_launch_dependents", "device_assert", "inline_asm_elementwise"})
"""Calls whose place among loads and stores matters."""


def called_name(node: ast.Call) -> str:
    """Last part of what a call calls."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def depends_on_axis(facts: Facts, axis: Axis, statement: ast.stmt) -> bool:
    """True where a name it sets, memory it touches or a branch it takes depends on the axis."""
    inside = set(ast.walk(statement))
    for events in facts.runs:
        for node in inside:
            value = events.values.get(node)
            if value is None or not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Store):
                continue
            if value.depends_on(axis):
                return True
    if any(_access_depends(a, axis) for a in accesses_in(facts, statement)):
        return True
    tests = [n.test for n in inside if isinstance(n, (ast.If, ast.While))]
    return any(_turns_on(events.values.get(t), axis) for events in facts.runs for t in tests)


def _access_depends(access: Access, axis: Axis) -> bool:
    parts = [p for p in (access.pointer, access.value, access.mask) if p is not None]
    return any(_turns_on(p, axis) for p in parts) or any(_turns_on(c.value, axis) for c in access.conditions)


def _turns_on(value: Value | None, axis: Axis) -> bool:
    return value is not None and (value.depends_on(axis) or is_guard(value, axis))


def _atomic(facts: Facts, axis: Axis, statement: ast.stmt) -> bool:
    return any(a.kind not in ("load", "store") for a in accesses_in(facts, statement))


def accesses_in(facts: Facts, statement: ast.stmt) -> list[Access]:
    """Loads, stores and atomics that the statement makes, in helpers too."""
    inside = set(ast.walk(statement))
    return [a for a in facts.accesses if a.top in inside]
