"""Transfer functions of loads, stores, atomics and block pointers: they record what touches memory, and how."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from . import poly as P
from .arithmetic import elementwise, union
from .axes import Axis
from .events import Access
from .joins import join
from .poly import Poly
from .value import Block, Cross, Dim, Environment, Value

if TYPE_CHECKING:
    from .interpreter import Interpreter


def argument(node: ast.Call, position: int, name: str) -> ast.expr | None:
    """Argument of a call by position or keyword."""
    if position < len(node.args) and not any(isinstance(a, ast.Starred) for a in node.args[: position + 1]):
        return node.args[position]
    return next((k.value for k in node.keywords if k.arg == name), None)


def load(run: Interpreter, node: ast.Call, env: Environment, pointer: Value | None = None) -> Value:
    """`tl.load`: the value has the pointer's shape and lanes; masked lanes are `other`."""
    if pointer is None:
        first = argument(node, 0, "pointer")
        pointer = run.eval(first, env) if first is not None else Value(dims=None)
        mask_node, other_node = argument(node, 1, "mask"), argument(node, 2, "other")
    else:
        mask_node = other_node = None
    mask = run.eval(mask_node, env) if mask_node is not None and not _none(mask_node) else None
    other = run.eval(other_node, env) if other_node is not None and not _none(other_node) else None
    covered = _covered(run, node, pointer, mask, env)
    parts = [pointer] + ([mask] if mask is not None else []) + ([other] if other is not None else [])
    result = elementwise(parts, node.lineno, "load")
    blocks = pointer.block is not None
    zero = frozenset(a for a, _ in covered) if blocks or (other is not None and other.is_zero) else frozenset()
    memory = union(v.memory for v in parts) | pointer.bases
    dtype = f"elem:{next(iter(pointer.bases))}" if len(pointer.bases) == 1 else None
    result = replace(
        result,
        padded_zero=zero,
        memory=memory,
        dtype=dtype,
        bounds=frozenset(),
        cross=result.cross | _reloaded(run, pointer),
    )
    if result.dims == ():
        axes, symbols = result.uniform, result.symbols
        result = replace(result, poly=P.opaque(f"load:{run.site(node)}", axes, symbols))
    else:
        result = replace(result, poly=None)
    _record(run, "load", node, pointer, mask, result, covered)
    return result


def _reloaded(run: Interpreter, pointer: Value) -> frozenset[Cross]:
    """Partials that the kernel stored where this load may read them back."""
    return union(run.stored_cross[b].cross for b in pointer.bases if b in run.stored_cross)


def store(run: Interpreter, node: ast.Call, env: Environment, pointer: Value | None = None) -> Value:
    """`tl.store`."""
    shift = 0 if pointer is None else -1
    if pointer is None:
        first = argument(node, 0, "pointer")
        pointer = run.eval(first, env) if first is not None else Value(dims=None)
    value_node = argument(node, 1 + shift, "value")
    if shift:
        value_node = node.args[-1] if node.args else value_node
    value = run.eval(value_node, env) if value_node is not None else Value(dims=None)
    mask_node = argument(node, 2, "mask") if not shift else None
    mask = run.eval(mask_node, env) if mask_node is not None and not _none(mask_node) else None
    if value.cross:
        for base in pointer.bases:
            known = run.stored_cross.get(base)
            mark = Value(cross=value.cross)
            run.stored_cross[base] = (
                mark if known is None else replace(join(known, mark, base), cross=known.cross | mark.cross)
            )
    _record(run, "store", node, pointer, mask, value, _covered(run, node, pointer, mask, env))
    return Value()


def atomic(run: Interpreter, node: ast.Call, env: Environment, name: str) -> Value:
    """An atomic: recorded with its value; what it returns depends on the order of programs."""
    values = [run.eval(a, env) for a in node.args]
    keywords = {k.arg: run.eval(k.value, env) for k in node.keywords if k.arg}
    pointer = values[0] if values else keywords.get("pointer", Value(dims=None))
    value = values[1] if len(values) > 1 else keywords.get("val", Value(dims=None))
    mask = keywords.get("mask") or (values[2] if len(values) > 2 and name != "atomic_cas" else None)
    _record(run, name, node, pointer, mask, value, _covered(run, node, pointer, mask, env))
    result = elementwise([pointer, value], node.lineno, name)
    return replace(result, memory=result.memory | pointer.bases, poly=None)


def block_pointer(run: Interpreter, node: ast.Call, env: Environment, *, descriptor: bool) -> Value:
    """`make_block_ptr(base, shape, strides, offsets, block_shape, order)` or a tensor descriptor (no offsets)."""
    base_node = argument(node, 0, "base")
    base = run.eval(base_node, env) if base_node is not None else Value(dims=None)
    shape = _polys(run, argument(node, 1, "shape"), env)
    offsets = None if descriptor else _polys(run, argument(node, 3, "offsets"), env)
    sizes = _polys(run, argument(node, 3 if descriptor else 4, "block_shape"), env)
    strides_node = argument(node, 2, "strides")
    strides = run.eval(strides_node, env) if strides_node is not None else Value()
    if sizes is None or shape is None or len(sizes) != len(shape):
        return run.lose(base, node, "block pointer")
    if descriptor:
        block = Block((), sizes, shape, ())
        return replace(base, dims=(), block=block, poly=None, symbols=base.symbols | strides.symbols)
    if offsets is None or len(offsets) != len(sizes):
        return run.lose(base, node, "block pointer")
    sites = tuple(f"{run.site(node)}.{i}" for i in range(len(sizes)))
    return _placed(
        run,
        replace(base, symbols=base.symbols | strides.symbols, uniform=base.uniform | strides.uniform),
        Block(offsets, sizes, shape, sites),
        node,
    )


def _placed(run: Interpreter, base: Value, block: Block, node: ast.AST) -> Value:
    """A block of pointers at given offsets: each dimension is `offset + arange(size)`."""
    rank = len(block.sizes)
    total: list[Poly] = []
    dims: list[Dim] = []
    uniform, symbols = base.uniform, base.symbols
    for i, (offset, size) in enumerate(zip(block.offsets, block.sizes, strict=True)):
        if offset is None or size is None:
            return replace(run.lose(base, node, "block pointer"), block=block)
        span = P.move_dims(P.lane_range(block.sites[i], size), {-1: i - rank})
        place = P.add(offset, span)
        if place is None:
            return replace(run.lose(base, node, "block pointer"), block=block)
        total.append(place)
        dims.append(Dim(size.key, place.lanes_of(i - rank)))
        uniform |= place.uniform_axes
        symbols |= place.symbols
    poly: Poly | None = base.poly if not base.dims else None
    for i, place in enumerate(total):
        # Strides are loop-invariant scalars: their own symbols keep the dimensions' terms apart.
        scaled = P.mul(place, P.opaque(f"stride:{block.sites[i]}"))
        poly = P.add(poly, scaled) if poly is not None and scaled is not None else None
    return replace(base, dims=tuple(dims), poly=poly, uniform=uniform, symbols=symbols, block=block)


def advance(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    """`tl.advance(block pointer, offsets)`."""
    first = argument(node, 0, "base")
    pointer = run.eval(first, env) if first is not None else Value(dims=None)
    steps = _polys(run, argument(node, 1, "offsets"), env)
    if pointer.block is None or steps is None or len(steps) != len(pointer.block.offsets):
        return run.lose(pointer, node, "advance")
    moved = tuple(
        None if o is None or s is None else P.add(o, s) for o, s in zip(pointer.block.offsets, steps, strict=True)
    )
    base = replace(
        pointer,
        dims=(),
        block=None,
        poly=P.opaque(f"base:{pointer.block.sites[0]}"),
        uniform=frozenset(),
        symbols=frozenset(),
    )
    uniform = pointer.uniform - union(o.uniform_axes for o in pointer.block.offsets if o is not None)
    return _placed(
        run, replace(base, uniform=uniform, symbols=pointer.symbols), replace(pointer.block, offsets=moved), node
    )


def descriptor_access(
    run: Interpreter, node: ast.Call, env: Environment, descriptor: Value, offsets_node: ast.expr | None
) -> Value:
    """The pointer block behind `descriptor.load(offsets)` or `.store(offsets, value)`."""
    block = descriptor.block
    offsets = _polys(run, offsets_node, env)
    if block is None or offsets is None or len(offsets) != len(block.sizes):
        return run.lose(descriptor, node, "descriptor")
    sites = tuple(f"{run.site(node)}.{i}" for i in range(len(block.sizes)))
    return _placed(run, replace(descriptor, block=None), Block(offsets, block.sizes, block.shape, sites), node)


def _polys(run: Interpreter, node: ast.expr | None, env: Environment) -> tuple[Poly | None, ...] | None:
    if node is None:
        return None
    value = run.eval(node, env)
    return None if value.items is None else tuple(i.poly for i in value.items)


def _covered(
    run: Interpreter, node: ast.Call, pointer: Value, mask: Value | None, env: Environment
) -> frozenset[tuple[Axis, str]]:
    """Axes whose lanes the mask, the boundary check or the branches around cut, with the limit."""
    found = {(b.axis, b.limit) for b in (mask.bounds if mask is not None else ())}
    for condition in run.conditions:
        if condition.holds:
            found |= {(b.axis, b.limit) for b in condition.value.bounds}
    block = pointer.block
    if block is not None:
        for i in _checked(node, len(block.sizes)):
            offset, shape = block.offsets[i], block.shape[i]
            if offset is not None and shape is not None and pointer.dims is not None:
                found |= {(a, shape.key) for a in pointer.dims[i].lanes}
    return frozenset(found)


def _checked(node: ast.Call, rank: int) -> list[int]:
    """Dimensions in `boundary_check`; a descriptor's access checks them all."""
    value = argument(node, 3, "boundary_check")
    if (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in ("load", "store")
        and value is None
        and len(node.args) <= 2
    ):
        if not _is_language(node):
            return list(range(rank))
    if isinstance(value, (ast.Tuple, ast.List)):
        return [
            e.value
            for e in value.elts
            if isinstance(e, ast.Constant) and isinstance(e.value, int) and 0 <= e.value < rank
        ]
    return []


def _is_language(node: ast.Call) -> bool:
    return (
        isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("tl", "language")
    )


def _record(
    run: Interpreter,
    kind: str,
    node: ast.Call,
    pointer: Value,
    mask: Value | None,
    value: Value,
    covered: frozenset[tuple[Axis, str]],
) -> None:
    run.events.accesses[run.key(node)] = Access(
        kind, node, pointer, mask, value, tuple(run.conditions), run.frame.path, run.top, covered
    )


def _none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
