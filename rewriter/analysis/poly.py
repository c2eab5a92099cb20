"""Symbolic integers: polynomials over parameters, axes, lane ranges and opaque scalars.

A tile offset `i_v * BV + arange(0, BV)` is recognised here: the axis term and the range term share the coefficient
`c` and the size `BV`, and together become one lane atom, the element's own index along the axis.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .axes import Axis

MAX_TERMS = 48
"""Past this a polynomial is given up: nothing real needs more, and products explode."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A factor: `sym` (a parameter), `axis`, `range` (lanes 0..size-1), `lane` (axis*size + range), `opaque`."""

    kind: str
    key: str
    axes: frozenset[Axis] = field(default=frozenset(), compare=False)
    """Axes it depends on: of `axis` and `lane` atoms the axis itself."""
    size: str = field(default="", compare=False)
    """Key of the size polynomial, for `range` and `lane`."""
    dim: int = field(default=0, compare=False)
    """Dimension from the right (-1 is the last), for `range` and `lane`."""
    site: str = field(default="", compare=False)
    """Where the range was made, for `range` and `lane`."""
    symbols: frozenset[str] = field(default=frozenset(), compare=False)
    """Parameters it depends on other than through a lane (a lane's own tile size does not count)."""

    @property
    def axis(self) -> Axis:
        (only,) = self.axes
        return only


Monomial = tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Poly:
    """A sum of integer multiples of monomials, in a canonical order."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    @property
    def key(self) -> str:
        """Canonical text; equal polynomials have equal keys."""
        if not self.terms:
            return "0"
        return "+".join("*".join(([str(c)] if c != 1 or not m else []) + [a.key for a in m]) for m, c in self.terms)

    @property
    def constant(self) -> int | None:
        """The value where it is a plain number, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    @property
    def atoms(self) -> frozenset[Atom]:
        return frozenset(a for m, _ in self.terms for a in m)

    @property
    def uniform_axes(self) -> frozenset[Axis]:
        """Axes it depends on as a whole (not through lanes)."""
        return frozenset(x for a in self.atoms if a.kind in ("axis", "opaque") for x in a.axes)

    @property
    def symbols(self) -> frozenset[str]:
        """Parameters it depends on; the tile size inside a lane does not count."""
        return frozenset(x for a in self.atoms for x in a.symbols)

    @property
    def lane_axes(self) -> frozenset[Axis]:
        """Axes whose lanes it runs along."""
        return frozenset(x for a in self.atoms if a.kind == "lane" for x in a.axes)

    def sole_atom(self) -> Atom | None:
        """The atom where it is exactly one, with coefficient 1."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1:
            return self.terms[0][0][0]
        return None

    def lanes_of(self, dim: int) -> frozenset[Axis]:
        """Axes whose lanes lie on dimension `dim` (from the right)."""
        return frozenset(x for a in self.atoms if a.kind == "lane" and a.dim == dim for x in a.axes)


def const(value: int) -> Poly:
    return Poly((((), value),)) if value else Poly()


def symbol(name: str) -> Poly:
    """A parameter or a named constant."""
    return of(Atom("sym", name, symbols=frozenset({name})))


def axis_poly(axis: Axis) -> Poly:
    return of(Atom("axis", str(axis), frozenset({axis})))


def opaque(key: str, axes: Iterable[Axis] = (), symbols: Iterable[str] = ()) -> Poly:
    """A scalar known only by name; equal keys mean equal values."""
    return of(Atom("opaque", key, frozenset(axes), symbols=frozenset(symbols)))


def lane_range(site: str, size: Poly) -> Poly:
    """`arange(0, size)` made at `site`, along the last dimension."""
    return of(_range_atom(site, size.key, -1, size.symbols))


def of(atom: Atom) -> Poly:
    return Poly((((atom,), 1),))


def _range_atom(site: str, size: str, dim: int, symbols: frozenset[str]) -> Atom:
    return Atom("range", f"r[{site},{size},{dim}]", frozenset(), size, dim, site, symbols)


def _lane_atom(axis: Axis, site: str, size: str, dim: int) -> Atom:
    return Atom("lane", f"L[{axis},{site},{size},{dim}]", frozenset({axis}), size, dim, site)


def add(a: Poly, b: Poly) -> Poly | None:
    """`a + b` with tile offsets absorbed into lanes; None where it grows too large."""
    return _absorb(_combine([*a.terms, *b.terms]))


def neg(a: Poly) -> Poly:
    return Poly(tuple((m, -c) for m, c in a.terms))


def sub(a: Poly, b: Poly) -> Poly | None:
    return add(a, neg(b))


def mul(a: Poly, b: Poly) -> Poly | None:
    """`a * b`; None where it grows too large."""
    if len(a.terms) * len(b.terms) > MAX_TERMS * 2:
        return None
    return _absorb(_combine([(_sorted((*m, *n)), c * d) for m, c in a.terms for n, d in b.terms]))


def move_dims(a: Poly, mapping: dict[int, int]) -> Poly:
    """`a` with its lanes moved to other dimensions (from the right)."""

    def moved(atom: Atom) -> Atom:
        dim = mapping.get(atom.dim, atom.dim)
        if atom.kind == "range":
            return _range_atom(atom.site, atom.size, dim, atom.symbols)
        if atom.kind == "lane":
            return _lane_atom(atom.axis, atom.site, atom.size, dim)
        return atom

    return Poly(tuple(sorted(((_sorted(tuple(moved(x) for x in m)), c) for m, c in a.terms), key=_order)))


def _sorted(monomial: Monomial) -> Monomial:
    return tuple(sorted(monomial, key=lambda atom: atom.key))


def _order(term: tuple[Monomial, int]) -> tuple[str, ...]:
    return tuple(a.key for a in term[0])


def _combine(terms: list[tuple[Monomial, int]]) -> dict[Monomial, int]:
    sums: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        sums[monomial] = sums.get(monomial, 0) + coefficient
    return {m: c for m, c in sums.items() if c}


def _absorb(terms: dict[Monomial, int]) -> Poly | None:
    """Replace `c*axis*N + c*range_N` by `c*lane` wherever both stand in the sum."""
    changed = True
    while changed:
        changed = False
        for monomial, coefficient in list(terms.items()):
            for place, atom in enumerate(monomial):
                if atom.kind != "range":
                    continue
                rest = monomial[:place] + monomial[place + 1 :]
                partner = _partner(terms, rest, coefficient, atom)
                if partner is None:
                    continue
                axis, key = partner
                lane = _sorted((*rest, _lane_atom(axis, atom.site, atom.size, atom.dim)))
                del terms[monomial], terms[key]
                terms[lane] = terms.get(lane, 0) + coefficient
                changed = True
                break
            if changed:
                break
    if len(terms) > MAX_TERMS:
        return None
    return Poly(tuple(sorted(terms.items(), key=_order)))


def _partner(terms: dict[Monomial, int], rest: Monomial, coefficient: int, span: Atom) -> tuple[Axis, Monomial] | None:
    """The axis term with which the range term `coefficient * rest * span` makes a lane."""
    for other, other_coefficient in terms.items():
        for place, atom in enumerate(other):
            if atom.kind != "axis":
                continue
            remaining = other[:place] + other[place + 1 :]
            if span.size.isdigit():
                matches = remaining == rest and other_coefficient == coefficient * int(span.size)
            else:
                matches = other_coefficient == coefficient and _without(remaining, span.size) == rest
            if matches:
                return atom.axis, other
    return None


def _without(monomial: Monomial, key: str) -> Monomial | None:
    """`monomial` with the atoms of the product `key` (for example `BV` or `BV*G`) taken out once each."""
    left = list(monomial)
    for part in key.split("*"):
        found = next((i for i, a in enumerate(left) if a.key == part), None)
        if found is None:
            return None
        del left[found]
    return tuple(left)
