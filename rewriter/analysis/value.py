"""The abstract value: what is known of one name at one point of a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .axes import Axis, depends
from .poly import Poly

NO_AXES: frozenset[Axis] = frozenset()


@dataclass(frozen=True, slots=True)
class Dim:
    """One dimension of a block: the key of its size (None where unknown) and the axes whose lanes lie on it."""

    size: str | None = None
    lanes: frozenset[Axis] = NO_AXES


@dataclass(frozen=True, slots=True)
class Cross:
    """The value was reduced over the lanes of `axis`, so it belongs to one tile only.

    `linear`: summing it over the tiles gives what the whole dimension would give.
    """

    axis: Axis
    linear: bool
    line: int
    operation: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The lanes of `axis` went through `operation`, which the analysis cannot follow."""

    axis: Axis
    line: int
    operation: str


@dataclass(frozen=True, slots=True)
class Bound:
    """Of a mask: lanes of `axis` are cut at the element index `limit` (a polynomial's key)."""

    axis: Axis
    limit: str


@dataclass(frozen=True, slots=True)
class Block:
    """Of a block pointer or descriptor: per dimension the offset, the block size and the shape."""

    offsets: tuple[Poly | None, ...]
    sizes: tuple[Poly | None, ...]
    shape: tuple[Poly | None, ...]
    sites: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of a value. The default is a scalar that depends on nothing and is otherwise unknown."""

    dims: tuple[Dim, ...] | None = ()
    """Dimensions; () is a scalar, None an unknown rank."""
    uniform: frozenset[Axis] = NO_AXES
    """Axes it depends on as a whole."""
    symbols: frozenset[str] = frozenset()
    """Constexpr parameters it depends on, other than through the lanes of a tile."""
    cross: frozenset[Cross] = frozenset()
    lost: frozenset[Lost] = frozenset()
    poly: Poly | None = None
    """Of integers, and the offset of pointers."""
    bases: frozenset[str] = frozenset()
    """Of pointers: the parameters it may point into."""
    bounds: frozenset[Bound] = frozenset()
    """Of masks: every true lane is inside these."""
    guards: frozenset[Axis] = NO_AXES
    """Of conditions: true only where these axes are 0."""
    padded_zero: frozenset[Axis] = NO_AXES
    """Axes past whose bound the lanes are zero."""
    dtype: str | None = None
    """`fp32`, `int64`, `int1`, `elem:NAME` (the element type of a pointer parameter), or None."""
    constant: int | float | bool | None = None
    memory: frozenset[str] = frozenset()
    """Parameters from whose memory it was computed."""
    items: tuple[Value, ...] | None = None
    """Of tuples and lists."""
    block: Block | None = None

    def depends_on(self, axis: Axis) -> bool:
        """True where the value may differ between tiles of `axis`, or between its lanes."""
        return (
            depends(self.uniform, axis)
            or depends(self.lanes, axis)
            or any(c.axis.overlaps(axis) for c in self.cross)
            or any(x.axis.overlaps(axis) for x in self.lost)
            or any(item.depends_on(axis) for item in self.items or ())
        )

    @property
    def lanes(self) -> frozenset[Axis]:
        """Axes whose lanes lie on some dimension."""
        return frozenset(a for d in self.dims or () for a in d.lanes)

    @property
    def axes(self) -> frozenset[Axis]:
        """Every axis it depends on in any way."""
        inner = frozenset(a for item in self.items or () for a in item.axes)
        return (
            self.uniform
            | self.lanes
            | inner
            | frozenset(c.axis for c in self.cross)
            | frozenset(x.axis for x in self.lost)
        )

    @property
    def is_zero(self) -> bool:
        return self.constant is not None and self.constant == 0

    @property
    def is_block(self) -> bool:
        """True where it is not known to be a scalar."""
        return self.dims is None or len(self.dims) > 0

    def scalar_like(self) -> Value:
        """The same dependences with the shape dropped."""
        return replace(self, dims=(), uniform=self.uniform | self.lanes, poly=None, block=None)


@dataclass(slots=True)
class Environment:
    """Names at one point. `reachable` is False after a return on every path."""

    names: dict[str, Value] = field(default_factory=dict)
    reachable: bool = True

    def copy(self) -> Environment:
        return Environment(dict(self.names), self.reachable)


def join_dims(a: tuple[Dim, ...] | None, b: tuple[Dim, ...] | None) -> tuple[Dim, ...] | None:
    """Dimensions after two values meet in one name; None on a rank conflict."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(Dim(x.size if x.size == y.size else None, x.lanes | y.lanes) for x, y in zip(a, b, strict=True))


def broadcast_dims(a: tuple[Dim, ...] | None, b: tuple[Dim, ...] | None) -> tuple[Dim, ...] | None:
    """Dimensions of an elementwise result, aligned from the right."""
    if a is None or b is None:
        return None
    if len(a) < len(b):
        a, b = b, a
    pad = len(a) - len(b)
    tail = tuple(Dim(_wider(x.size, y.size), x.lanes | y.lanes) for x, y in zip(a[pad:], b, strict=True))
    return a[:pad] + tail


def _wider(a: str | None, b: str | None) -> str | None:
    if a == "1":
        return b
    if b == "1":
        return a
    return a if a == b else a or b
