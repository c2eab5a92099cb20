"""Parts of a tensor, and when two of them surely share no element."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass

from ..kernel.definition import Module
from ..kernel.idioms import constant_value, identity


@dataclass(frozen=True)
class Slice:
    """`lower:upper` by the identities of its ends, and their numbers where they have one."""

    lower: tuple[Hashable, object]
    upper: tuple[Hashable, object]


@dataclass(frozen=True)
class Part:
    """`of[places]`: a number, a slice or None (anything) for each of the first dimensions."""

    of: Hashable
    places: tuple[int | Slice | None, ...]


def part_of(module: Module, node: ast.Subscript) -> Part:
    """The part that a subscript takes of what it stands behind."""
    elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    places: list[int | Slice | None] = []
    for element in elements:
        if isinstance(element, ast.Constant) and element.value in (None, Ellipsis):
            break  # What follows stands at another dimension.
        places.append(_place(module, element))
    return Part(identity(module, node.value), tuple(places))


def are_apart(one: Part, two: Part) -> bool:
    """True where two parts of the same whole differ in a number, or lie on both sides of one end."""
    return one.of == two.of and any(_differ(a, b) for a, b in zip(one.places, two.places, strict=False))


def _place(module: Module, node: ast.expr) -> int | Slice | None:
    if isinstance(node, ast.Slice):
        if node.step is not None:
            return None
        ends = [
            None if e is None else (identity(module, e), constant_value(module, e)) for e in (node.lower, node.upper)
        ]
        none: tuple[Hashable, object] = (None, None)
        return Slice(ends[0] or (None, 0), ends[1] or none)
    number = constant_value(module, node)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _differ(a: int | Slice | None, b: int | Slice | None) -> bool:
    if isinstance(a, int) and isinstance(b, int):
        return a != b and (a < 0) == (b < 0)
    if isinstance(a, Slice) and isinstance(b, Slice):
        return _ends_before(a, b) or _ends_before(b, a)
    return False


def _ends_before(a: Slice, b: Slice) -> bool:
    """True where `a` ends where `b` begins, or before: by the same expression, or by two numbers."""
    (end, last), (begin, first) = a.upper, b.lower
    if end is not None and end == begin:
        return True
    return isinstance(last, int) and isinstance(first, int) and 0 <= last <= first
