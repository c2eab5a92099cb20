"""Transfer functions of operators: how shapes, lanes, offsets, masks and partial sums combine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from . import poly as P
from .axes import Axis
from .operations import FLOATS, INTEGERS
from .poly import Poly
from .value import NO_AXES, Bound, Cross, Dim, Lost, Value, broadcast_dims

T = TypeVar("T")


def elementwise(
    values: Sequence[Value], line: int, operation: str, *, keeps_zero: bool = False, linear: bool = False
) -> Value:
    """A function applied lane by lane. `linear` in its only varying argument keeps a partial sum linear."""
    dims: tuple[Dim, ...] | None = ()
    for value in values:
        dims = broadcast_dims(dims, value.dims)
    padded = values[0].padded_zero if keeps_zero and values else NO_AXES
    return Value(
        dims=dims,
        uniform=union(v.uniform for v in values),
        symbols=union(v.symbols for v in values),
        cross=_cross(values, line, operation, linear),
        lost=_lost(values, dims, line, operation),
        memory=union(v.memory for v in values),
        padded_zero=padded,
        dtype=promote(values),
    )


def _lost(values: Sequence[Value], dims: tuple[Dim, ...] | None, line: int, operation: str) -> frozenset[Lost]:
    """Lanes are lost where the shapes cannot be aligned."""
    lost = union(v.lost for v in values)
    if dims is None:
        lost |= frozenset(Lost(a, line, operation) for v in values for a in v.lanes)
    return lost


def _cross(values: Sequence[Value], line: int, operation: str, linear: bool) -> frozenset[Cross]:
    found: dict[Axis, Cross] = {}
    for value in values:
        for cross in value.cross:
            known = found.get(cross.axis)
            keep = cross.linear and linear and (known is None or known.linear)
            found[cross.axis] = Cross(cross.axis, keep, (known or cross).line, (known or cross).operation)
    return frozenset(found.values())


def add_cross(a: Value, b: Value) -> frozenset[Cross]:
    """Partial sums add up; a partial plus anything else that is not zero counts that once a tile."""
    axes = {c.axis for c in a.cross | b.cross}
    result = set()
    for axis in axes:
        ca, cb = cross_of(a, axis), cross_of(b, axis)
        first = ca or cb
        assert first is not None
        if ca and cb:
            linear = ca.linear and cb.linear
        else:
            linear = first.linear and (b if ca else a).is_zero
        result.add(Cross(axis, linear, first.line, first.operation))
    return frozenset(result)


def mul_cross(a: Value, b: Value) -> frozenset[Cross]:
    """A partial sum times something that all tiles agree on stays a partial sum."""
    result = set()
    for axis in {c.axis for c in a.cross | b.cross}:
        ca, cb = cross_of(a, axis), cross_of(b, axis)
        first = ca or cb
        assert first is not None
        other = b if ca else a
        linear = first.linear and not (ca and cb) and not other.depends_on(axis)
        result.add(Cross(axis, linear, first.line, first.operation))
    return frozenset(result)


def cross_of(value: Value, axis: Axis) -> Cross | None:
    return next((c for c in value.cross if c.axis == axis), None)


def binary(operator: str, a: Value, b: Value, line: int, site: str) -> Value:
    """`a operator b` for Python's arithmetic and bit operators by their AST class name."""
    result = elementwise([a, b], line, operator)
    if operator in ("Add", "Sub"):
        result = replace(result, cross=add_cross(a, b), padded_zero=_both_zero(a, b))
    elif operator == "Mult":
        zero = 0 if a.is_zero or b.is_zero else None
        result = replace(result, cross=mul_cross(a, b), padded_zero=a.padded_zero | b.padded_zero, constant=zero)
    elif operator == "Div":
        result = replace(
            result,
            cross=result.cross if b.cross else mul_cross(a, b),
            padded_zero=a.padded_zero - b.padded_zero,
            dtype=_divided(result.dtype),
        )
    elif operator == "BitAnd":
        result = replace(result, bounds=a.bounds | b.bounds, guards=a.guards | b.guards)
    elif operator == "BitOr":
        result = replace(result, bounds=a.bounds & b.bounds, guards=a.guards & b.guards)
    if operator == "Div":
        return result
    result = with_poly(result, binary_poly(operator, a, b, site), a, b)
    # A pointer may only be moved: whatever is multiplied, divided or masked was a number all along.
    return result if operator in ("Add", "Sub") else replace(result, bases=frozenset())


def _divided(dtype: str | None) -> str | None:
    return "fp32" if dtype in INTEGERS else dtype


def _both_zero(a: Value, b: Value) -> frozenset[Axis]:
    if a.is_zero:
        return b.padded_zero
    if b.is_zero:
        return a.padded_zero
    return a.padded_zero & b.padded_zero


def with_poly(result: Value, poly: Poly | None, *operands: Value) -> Value:
    """`result` with its offset and the dependences that follow from it; pointers keep their bases."""
    bases = union(v.bases for v in operands)
    if poly is None:
        return replace(result, bases=bases, poly=None)
    known = union(v.poly.uniform_axes for v in operands if v.poly is not None)
    extra = union(v.uniform for v in operands) - known
    extra_symbols = union(v.symbols for v in operands) - union(v.poly.symbols for v in operands if v.poly is not None)
    dims = result.dims
    if dims is not None:
        dims = tuple(Dim(d.size, poly.lanes_of(i - len(dims))) for i, d in enumerate(dims))
    constant = poly.constant if not dims else None
    return replace(
        result,
        dims=dims,
        poly=poly,
        bases=bases,
        uniform=poly.uniform_axes | extra,
        symbols=poly.symbols | extra_symbols,
        constant=constant,
    )


_POLY: dict[str, Callable[[Poly, Poly], Poly | None]] = {"Add": P.add, "Sub": P.sub, "Mult": P.mul}


def binary_poly(operator: str, a: Value, b: Value, site: str) -> Poly | None:
    """The polynomial of an integer operation, or an opaque scalar with the operands' dependences."""
    if a.poly is None or b.poly is None or a.dims is None or b.dims is None:
        return None
    if a.dtype in FLOATS or b.dtype in FLOATS:
        return None
    if operator in _POLY:
        found = _POLY[operator](a.poly, b.poly)
        if found is not None or a.dims or b.dims:
            return found
    if a.dims or b.dims:
        return None
    if operator in ("FloorDiv", "Mod"):
        return _division("//" if operator == "FloorDiv" else "%", a.poly, b.poly)
    return opaque_of(operator, a.poly, b.poly)


def _division(operator: str, a: Poly, b: Poly) -> Poly:
    numbers = (a.constant, b.constant)
    if numbers[0] is not None and numbers[1]:
        return P.const(numbers[0] // numbers[1] if operator == "//" else numbers[0] % numbers[1])
    if b.constant == 1:
        return a if operator == "//" else P.const(0)
    atom = a.sole_atom()
    if atom is not None and atom.kind == "axis":
        return P.axis_poly(atom.axis.split(operator, b.key))
    return opaque_of(operator, a, b)


def opaque_of(operation: str, *operands: Poly) -> Poly:
    """A scalar that is a pure function of the operands; equal operands give equal keys."""
    return P.opaque(
        f"{operation}({','.join(o.key for o in operands)})",
        union(o.uniform_axes for o in operands),
        union(o.symbols for o in operands),
    )


def compare(operator: str, a: Value, b: Value, line: int) -> Value:
    """A comparison: a mask with the bounds it proves, or a condition with its guard."""
    result = replace(elementwise([a, b], line, "comparison"), dtype="int1", padded_zero=NO_AXES)
    flipped = {"Gt": "Lt", "GtE": "LtE"}
    low, high, name = (b, a, flipped[operator]) if operator in flipped else (a, b, operator)
    if name in ("Is", "IsNot") and a.dtype == b.dtype == "none":
        # An omitted argument is None on every path; a value that is None on some is not marked so.
        return replace(result, constant=name == "Is")
    if low.poly is None or high.poly is None:
        return result
    if name in ("Lt", "LtE"):
        return replace(
            result,
            bounds=_bounds(low.poly, high.poly, inclusive=name == "LtE"),
            guards=_first_only(low.poly, high.poly, 1 if name == "Lt" else 0),
        )
    if name == "Eq":
        return replace(result, guards=_is_zero_axis(low.poly, high.poly) | _is_zero_axis(high.poly, low.poly))
    return result


def _bounds(low: Poly, high: Poly, *, inclusive: bool) -> frozenset[Bound]:
    found = set()
    for monomial, coefficient in low.terms:
        if coefficient != 1 or len(monomial) != 1 or monomial[0].kind != "lane":
            continue
        rest = P.sub(low, P.of(monomial[0]))
        limit = None if rest is None else P.sub(high, rest)
        if limit is not None and inclusive:
            limit = P.add(limit, P.const(1))
        if limit is not None and not limit.lane_axes and not limit.uniform_axes & monomial[0].axes:
            found.add(Bound(monomial[0].axis, limit.key))
    return frozenset(found)


def _is_zero_axis(a: Poly, b: Poly) -> frozenset[Axis]:
    atom = a.sole_atom()
    return atom.axes if atom is not None and atom.kind == "axis" and b.constant == 0 else NO_AXES


def _first_only(low: Poly, high: Poly, limit: int) -> frozenset[Axis]:
    atom = low.sole_atom()
    return atom.axes if atom is not None and atom.kind == "axis" and high.constant == limit else NO_AXES


def logical(values: Sequence[Value], is_and: bool, line: int) -> Value:
    """`and` / `or` of conditions."""
    result = replace(elementwise(values, line, "logic"), dtype="int1")
    bounds, guards = values[0].bounds, values[0].guards
    for value in values[1:]:
        bounds = bounds | value.bounds if is_and else bounds & value.bounds
        guards = guards | value.guards if is_and else guards & value.guards
    return replace(result, bounds=bounds, guards=guards)


def where(mask: Value, yes: Value, no: Value, line: int) -> Value:
    """`tl.where`: zero outside the mask's bounds where the other arm is zero."""
    result = elementwise([mask, yes, no], line, "where")
    cut = frozenset(b.axis for b in mask.bounds)
    padded = (
        (yes.padded_zero & no.padded_zero)
        | (yes.padded_zero if no.is_zero else NO_AXES)
        | (no.padded_zero if yes.is_zero else NO_AXES)
    )
    if no.is_zero:
        padded |= cut
    cross = result.cross
    if not mask.cross and (yes.is_zero or no.is_zero):
        kept = no if yes.is_zero else yes
        cross = frozenset(replace(c, linear=c.linear and not mask.depends_on(c.axis)) for c in kept.cross)
    elif not mask.cross:
        # Each lane takes one partial or the other: where every tile chooses alike, the tiles' sums add up as before.
        cross = frozenset(_chosen_cross(mask, yes, no, c) for c in result.cross)
    dtype = promote([yes, no])
    if mask.guards and no.is_zero and not any(lane.overlaps(guard) for lane in mask.lanes for guard in mask.guards):
        # Only the first tile contributes: summed over the tiles this is the value itself.
        one_hot = frozenset(Cross(a, True, line, "where") for a in mask.guards if not yes.depends_on(a))
        axes = frozenset(c.axis for c in one_hot)
        return replace(result, padded_zero=padded, cross=cross | one_hot, uniform=result.uniform - axes, dtype=dtype)
    return replace(result, padded_zero=padded, cross=cross, dtype=dtype)


def _chosen_cross(mask: Value, yes: Value, no: Value, cross: Cross) -> Cross:
    parts = (cross_of(yes, cross.axis), cross_of(no, cross.axis))
    return replace(cross, linear=all(p is not None and p.linear for p in parts) and not mask.depends_on(cross.axis))


def promote(values: Sequence[Value]) -> str | None:
    """Dtype of an elementwise result; plain Python numbers take the other side's."""
    kinds = {v.dtype for v in values if not (v.constant is not None and v.dtype is None)}
    if not kinds:
        return None
    if len(kinds) == 1:
        return kinds.pop()
    if None in kinds:
        return None
    floats = {k for k in kinds if k in FLOATS}
    if any(k is not None and k.startswith(("elem:", "like:")) for k in kinds):
        return None
    for dtype in ("fp64", "fp32"):
        if dtype in floats:
            return dtype
    if len(floats) == 1:
        return floats.pop()
    if floats:
        return "fp32"
    for dtype in ("int64", "uint64", "int32", "uint32"):
        if dtype in kinds:
            return dtype
    return None


def union(sets: Iterable[frozenset[T]]) -> frozenset[T]:
    """Union of an iterable of frozensets."""
    result: frozenset[T] = frozenset()
    for part in sets:
        if part:
            result = result | part if result else part
    return result
