"""What is known after two paths meet."""

from __future__ import annotations

from dataclasses import replace

from . import poly as P
from .arithmetic import promote, union
from .axes import Axis
from .poly import Atom, Poly
from .value import Bound, Cross, Dim, Environment, Lost, Value, join_dims


def join(a: Value, b: Value, key: str) -> Value:
    """Either `a` or `b`. Offsets that differ are replaced by the opaque scalar `phi:key`."""
    if a == b or b.dtype == "none":
        return a
    if a.dtype == "none":
        # A name set to None on one path can be used on the other only.
        return b
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items = tuple(join(x, y, f"{key}.{i}") for i, (x, y) in enumerate(zip(a.items, b.items, strict=True)))
        return replace(_meet(a, b), items=items)
    result = _meet(a, b)
    if a.poly is not None and b.poly is not None and result.dims is not None:
        poly = join_poly(a.poly, b.poly, key)
        if poly is not None:
            dims = tuple(Dim(d.size, poly.lanes_of(i - len(result.dims))) for i, d in enumerate(result.dims))
            return replace(
                result,
                poly=poly,
                dims=dims,
                uniform=result.uniform | poly.uniform_axes,
                symbols=result.symbols | poly.symbols,
            )
    return result


def _meet(a: Value, b: Value) -> Value:
    dims = join_dims(a.dims, b.dims)
    lost = a.lost | b.lost
    if dims is None:
        lost |= frozenset(Lost(x, 0, "values of different rank") for x in a.lanes | b.lanes)
    return Value(
        dims=dims,
        uniform=a.uniform | b.uniform,
        symbols=a.symbols | b.symbols,
        cross=_join_cross(a, b),
        lost=lost,
        bases=a.bases | b.bases,
        bounds=_join_bounds(a, b),
        guards=a.guards & b.guards,
        padded_zero=_join_padded(a, b),
        dtype=a.dtype if a.dtype == b.dtype else promote([a, b]),
        constant=a.constant if a.constant == b.constant else None,
        memory=a.memory | b.memory,
        block=a.block if a.block == b.block else None,
    )


def _join_padded(a: Value, b: Value) -> frozenset[Axis]:
    if a.is_zero:
        return b.padded_zero
    if b.is_zero:
        return a.padded_zero
    return a.padded_zero & b.padded_zero


def _join_bounds(a: Value, b: Value) -> frozenset[Bound]:
    return a.bounds & b.bounds


def _join_cross(a: Value, b: Value) -> frozenset[Cross]:
    """Linear only where both are, or where the other is zero."""
    found: dict[Axis, Cross] = {}
    for value, other in ((a, b), (b, a)):
        for cross in value.cross:
            known = found.get(cross.axis)
            opposite = next((c for c in other.cross if c.axis == cross.axis), None)
            linear = cross.linear and (opposite.linear if opposite else other.is_zero)
            found[cross.axis] = Cross(
                cross.axis,
                linear and (known is None or known.linear),
                (known or cross).line,
                (known or cross).operation,
            )
    return frozenset(found.values())


def join_poly(a: Poly, b: Poly, key: str) -> Poly | None:
    """The common terms, plus one opaque scalar for whatever differs; None where lanes differ."""
    if a == b:
        return a
    name = f"phi:{key}"
    terms_a = {t for t in a.terms if not _is_phi(t, name)}
    terms_b = {t for t in b.terms if not _is_phi(t, name)}
    differing = [m for m, _ in terms_a ^ terms_b]
    if any(atom.kind in ("lane", "range") for m in differing for atom in m):
        return None
    axes = union(atom.axes for m in differing for atom in m) | _phi_axes(a, name) | _phi_axes(b, name)
    symbols = union(atom.symbols for m in differing for atom in m) | _phi_symbols(a, name) | _phi_symbols(b, name)
    common = Poly(tuple(t for t in a.terms if t in terms_b))
    return P.add(common, P.opaque(name, axes, symbols))


def _is_phi(term: tuple[tuple[Atom, ...], int], name: str) -> bool:
    return len(term[0]) == 1 and term[0][0].key == name and term[1] == 1


def _phi_axes(poly: Poly, name: str) -> frozenset[Axis]:
    return union(a.axes for a in poly.atoms if a.key == name)


def _phi_symbols(poly: Poly, name: str) -> frozenset[str]:
    return union(a.symbols for a in poly.atoms if a.key == name)


def join_environments(a: Environment, b: Environment, key: str) -> Environment:
    """Names after two paths meet; a path that has returned does not count."""
    if not a.reachable:
        return b
    if not b.reachable:
        return a
    names = dict(a.names)
    for name, value in b.names.items():
        names[name] = join(names[name], value, f"{key}:{name}") if name in names else value
    return Environment(names)


def conflicting(a: Environment, b: Environment) -> bool:
    """True where a name has another rank on one path, lanes on other dimensions, or is another axis."""
    return (
        a.reachable
        and b.reachable
        and any(
            name in b.names
            and (
                _ranks_differ(value, b.names[name])
                or _lanes_moved(value, b.names[name])
                or _axes_differ(value, b.names[name])
            )
            for name, value in a.names.items()
        )
    )


def _ranks_differ(a: Value, b: Value) -> bool:
    return (
        a.dims is not None
        and b.dims is not None
        and len(a.dims) != len(b.dims)
        and "none" not in (a.dtype, b.dtype)
        and a.items is None
        and b.items is None
    )


def _lanes_moved(a: Value, b: Value) -> bool:
    if a.dims is None or b.dims is None or len(a.dims) != len(b.dims) or not a.lanes:
        return False
    return a.lanes == b.lanes and any(x.lanes != y.lanes for x, y in zip(a.dims, b.dims, strict=True))


def _axes_differ(a: Value, b: Value) -> bool:
    """True where a name stands for one grid axis here and for another there."""
    first, second = (v.poly.sole_atom() if v.poly is not None else None for v in (a, b))
    return (
        first is not None and second is not None and first.kind == second.kind == "axis" and first.axes != second.axes
    )


def taint(value: Value, by: Value, key: str) -> Value:
    """`value` chosen under a condition: it depends on what the condition depends on.

    An offset gets a term of that name, so that arithmetic cannot lose the dependence.
    """
    axes = by.axes
    if not axes and not by.symbols and not by.memory:
        return value
    poly = value.poly
    if poly is not None and (axes or by.symbols):
        name = f"taint:{key}"
        rest = Poly(tuple(t for t in poly.terms if not _is_phi(t, name)))
        mark = P.opaque(name, axes | _phi_axes(poly, name), by.symbols | _phi_symbols(poly, name))
        poly = P.add(rest, mark)
    return replace(
        value,
        poly=poly,
        constant=None,
        uniform=value.uniform | axes,
        symbols=value.symbols | by.symbols,
        memory=value.memory | by.memory,
        guards=frozenset(),
    )


def join_all(values: list[Value], key: str) -> Value:
    """Any of the values; one that depends on nothing where there are none."""
    if not values:
        return Value()
    result = values[0]
    for i, value in enumerate(values[1:]):
        result = join(result, value, f"{key}.{i}")
    return result
