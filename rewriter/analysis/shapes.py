"""Transfer functions that move, add and drop dimensions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from . import poly as P
from .arithmetic import union
from .operations import LAST_DIMENSION
from .syntax import symbols_in
from .value import NO_AXES, Cross, Dim, Environment, Value

if TYPE_CHECKING:
    from .interpreter import Interpreter


def subscript(run: Interpreter, node: ast.Subscript, env: Environment) -> Value:
    """`x[:, None]` adds dimensions; `pair[0]` takes an item."""
    value = run.eval(node.value, env)
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if value.items is not None:
        if (
            isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, int)
            and -len(value.items) <= node.slice.value < len(value.items)
        ):
            return value.items[node.slice.value]
        return run.lose(value, node, "subscript")
    if all(_is_none(i) or _is_full_slice(i) for i in indices):
        return expanded(run, value, [_is_none(i) for i in indices], node)
    if not value.is_block:
        # An attribute such as a shape: indexing it gives a compile-time scalar.
        return Value(uniform=value.uniform, symbols=value.symbols)
    for index in indices:
        run.eval(index, env) if not isinstance(index, ast.Slice) else None
    return run.lose(value, node, "subscript")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_full_slice(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and node.lower is None and node.upper is None and node.step is None


def expanded(run: Interpreter, value: Value, new: Sequence[bool], node: ast.AST) -> Value:
    """Insert dimensions of size 1 where `new` says so; the other entries are the value's own, in order."""
    if value.dims is None:
        return value
    own = [i for i, is_new in enumerate(new) if not is_new]
    if len(own) > len(value.dims):
        return run.lose(value, node, "subscript")
    trailing = len(value.dims) - len(own)
    order = [*new, *([False] * trailing)]
    dims: list[Dim] = []
    mapping: dict[int, int] = {}
    taken = 0
    for position, is_new in enumerate(order):
        if is_new:
            dims.append(Dim("1"))
            continue
        mapping[taken - len(value.dims)] = position - len(order)
        dims.append(value.dims[taken])
        taken += 1
    return _moved(value, tuple(dims), mapping)


def permuted(value: Value, order: Sequence[int] | None) -> Value:
    """Reorder dimensions; None reverses the last two (or all of a matrix)."""
    if value.dims is None:
        return value
    rank = len(value.dims)
    if order is None:
        order = [*range(rank - 2), rank - 1, rank - 2] if rank >= 2 else list(range(rank))
    if sorted(order) != list(range(rank)):
        return replace(value, dims=None, poly=None)
    dims = tuple(value.dims[i] for i in order)
    return _moved(value, dims, {old - rank: position - rank for position, old in enumerate(order)})


def _moved(value: Value, dims: tuple[Dim, ...], mapping: dict[int, int]) -> Value:
    poly = P.move_dims(value.poly, mapping) if value.poly is not None else None
    return replace(value, dims=dims, poly=poly)


def reduced(run: Interpreter, value: Value, axis: int | None, keep_dims: bool, operation: str, node: ast.Call) -> Value:
    """A reduction over dimension `axis`, or over all: lanes that go become a partial of their tile."""
    line = node.lineno
    if value.dims is None:
        return replace(collapsed(run, value, node, operation), dims=() if axis is None else None)
    rank = len(value.dims)
    chosen = list(range(rank)) if axis is None else [axis % rank] if rank and -rank <= axis < rank else []
    gone = [value.dims[i] for i in chosen]
    linear = operation in ("sum",)
    crosses = {c.axis: replace(c, linear=c.linear and linear) for c in value.cross}
    for dim in gone:
        for lane in dim.lanes:
            known = crosses.get(lane)
            crosses[lane] = Cross(
                lane, linear and lane in value.padded_zero and (known is None or known.linear), line, operation
            )
    symbols = value.symbols | union(_size_symbols(run, d) for d in gone)
    dims = (
        tuple(Dim("1") if i in chosen else d for i, d in enumerate(value.dims))
        if keep_dims
        else tuple(d for i, d in enumerate(value.dims) if i not in chosen)
    )
    return replace(
        value,
        dims=dims,
        poly=None,
        cross=frozenset(crosses.values()),
        symbols=symbols,
        bounds=frozenset(),
        guards=frozenset(),
        constant=None,
        block=None,
        # A combining function of the kernel's own need not give zero for zeros.
        padded_zero=value.padded_zero if operation != "reduce" else NO_AXES,
    )


def _size_symbols(run: Interpreter, dim: Dim) -> frozenset[str]:
    """Reducing or scanning a dimension without lanes of a tile makes the result depend on the dimension's size."""
    if dim.lanes:
        return frozenset()
    return _any_size(run) if dim.size is None else symbols_in(dim.size)


def collapsed(run: Interpreter, value: Value, node: ast.AST, operation: str) -> Value:
    """A reduction or scan along a dimension that is not known: lost, and of any size."""
    lost = run.lose(value, node, operation)
    return replace(lost, symbols=lost.symbols | _any_size(run))


def _any_size(run: Interpreter) -> frozenset[str]:
    """What a size that is not known may be made of."""
    return run.kernel.constexprs


def scanned(run: Interpreter, value: Value, axis: int | None, operation: str, node: ast.Call) -> Value:
    """A scan or sort along one dimension: lanes on it belong to their tile, and equal lanes become unequal."""
    if value.dims is None:
        return collapsed(run, value, node, operation)
    rank = len(value.dims)
    axis = axis if axis is not None else rank - 1 if operation in LAST_DIMENSION else 0
    scanned_dims = (value.dims[axis % rank],) if rank and -rank <= axis < rank else value.dims
    along = frozenset(lane for dim in scanned_dims for lane in dim.lanes)
    crosses = {c.axis: replace(c, linear=False) for c in value.cross}
    crosses |= {a: Cross(a, False, node.lineno, operation) for a in along}
    return replace(
        value,
        poly=None,
        cross=frozenset(crosses.values()),
        symbols=value.symbols | union(_size_symbols(run, d) for d in scanned_dims),
        bounds=frozenset(),
        constant=None,
        padded_zero=value.padded_zero - along,
        guards=frozenset(),
    )


def reshaped(run: Interpreter, value: Value, sizes: tuple[Dim, ...] | None, operation: str, node: ast.AST) -> Value:
    """A new shape for the same elements: fine without lanes, lost with them, unless it only adds ones."""
    if value.lanes:
        kept = None if sizes is None or value.dims is None else _same_but_ones(value.dims, sizes)
        if kept is None:
            return replace(run.lose(value, node, operation), dims=sizes)
        return replace(value, dims=kept, poly=None)
    return replace(value, dims=sizes, poly=None)


def _same_but_ones(old: tuple[Dim, ...], new: tuple[Dim, ...]) -> tuple[Dim, ...] | None:
    """`new` with the lanes of `old`, where the two differ in dimensions of size 1 only."""
    source = [d for d in old if d.size != "1"]
    target = [d for d in new if d.size != "1"]
    if [d.size for d in source] != [d.size for d in target] or any(d.size is None for d in source):
        return None
    queue = iter(source)
    return tuple(d if d.size == "1" else next(queue) for d in new)


def broadcast(run: Interpreter, value: Value, sizes: tuple[Dim, ...] | None, node: ast.AST) -> Value:
    """`broadcast_to`: dimensions are aligned from the right."""
    if sizes is None or value.dims is None or len(sizes) < len(value.dims):
        return run.lose(value, node, "broadcast")
    pad = len(sizes) - len(value.dims)
    tail = tuple(Dim(new.size, old.lanes) for new, old in zip(sizes[pad:], value.dims, strict=True))
    return replace(value, dims=sizes[:pad] + tail)


def shape_of(run: Interpreter, node: ast.expr, env: Environment) -> tuple[Dim, ...] | None:
    """Dimensions from a shape argument: a list or tuple of constexpr sizes."""
    value = run.eval(node, env)
    if value.items is None:
        return (Dim(value.poly.key),) if value.poly is not None and not value.dims else None
    return tuple(Dim(i.poly.key if i.poly is not None else None) for i in value.items)


def dot(run: Interpreter, a: Value, b: Value, accumulator: Value | None, node: ast.Call) -> Value:
    """`tl.dot`: rows of a, columns of b; lanes of the contracted dimension become a partial sum."""
    from .arithmetic import add_cross, elementwise

    base = elementwise([a, b], node.lineno, "dot")
    if a.dims is None or b.dims is None or len(a.dims) < 2 or len(b.dims) < 2:
        result = collapsed(run, base, node, "dot")
    else:
        crosses = {c.axis: c for c in _dot_cross(a, b)}
        inner = a.dims[-1].lanes | b.dims[-2].lanes
        for lane in inner:
            padded = lane in a.padded_zero | b.padded_zero
            crosses[lane] = Cross(
                lane, padded and crosses.get(lane, Cross(lane, True, 0, "")).linear, node.lineno, "dot"
            )
        dims = (*a.dims[:-2], a.dims[-2], b.dims[-1])
        result = replace(
            base,
            dims=dims,
            cross=frozenset(crosses.values()),
            dtype="fp32",
            lost=a.lost | b.lost,
            symbols=base.symbols | (frozenset() if inner else _size_symbols(run, a.dims[-1])),
            padded_zero=(a.padded_zero & frozenset(a.dims[-2].lanes)) | (b.padded_zero & frozenset(b.dims[-1].lanes)),
        )
    if accumulator is not None:
        joined = elementwise([result, accumulator], node.lineno, "dot")
        result = replace(joined, cross=add_cross(result, accumulator), dtype="fp32")
    return result


def _dot_cross(a: Value, b: Value) -> frozenset[Cross]:
    from .arithmetic import mul_cross

    return mul_cross(a, b)
