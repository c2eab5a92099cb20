"""Functions of Triton's language that need more than a table: program ids, shapes, block pointers, dots."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from . import memory, shapes
from . import poly as P
from .arithmetic import elementwise, opaque_of, where, with_poly
from .axes import UNKNOWN_ROOT, Axis
from .call_arguments import arguments, cast, opaque
from .memory import argument
from .value import Dim, Environment, Value

if TYPE_CHECKING:
    from .interpreter import Interpreter

Handler = Callable[["Interpreter", ast.Call, Environment], Value]


def _program_id(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    number = _axisnumber(run, node, env)
    poly = P.axis_poly(Axis(number if number is not None else UNKNOWN_ROOT))
    return Value(poly=poly, uniform=poly.uniform_axes, dtype="int32")


def _num_programs(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    number = _axisnumber(run, node, env)
    run.events.program_counts[int(number) if number is not None else -1] = node
    return Value(
        poly=P.opaque(f"num_programs({number})"), symbols=frozenset({f"num_programs({number})"}), dtype="int32"
    )


def _axisnumber(run: Interpreter, node: ast.Call, env: Environment) -> str | None:
    value = argument(node, 0, "axis")
    number = run.eval(value, env).constant if value is not None else None
    return str(number) if isinstance(number, int) else None


def _arange(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    start, end = (
        run.eval(a, env) if (a := argument(node, i, n)) is not None else Value() for i, n in enumerate(("start", "end"))
    )
    size = P.sub(end.poly, start.poly) if start.poly is not None and end.poly is not None else None
    if size is None or start.poly is None:
        return Value(dims=(_dim(None),), dtype="int32")
    poly = P.add(start.poly, P.lane_range(run.site(node), size))
    result = Value(dims=(_dim(size.key),), dtype="int32", symbols=size.symbols, uniform=start.uniform)
    return with_poly(result, poly, start, Value(poly=size, symbols=size.symbols))


def number(result: Value, poly: P.Poly, *operands: Value) -> Value:
    """An integer function of integers: never a pointer."""
    return replace(with_poly(result, poly, *operands), bases=frozenset())


def _dim(size: str | None) -> Dim:

    return Dim(size)


def _filled(run: Interpreter, node: ast.Call, env: Environment, value: Value, dtype_position: int) -> Value:
    shape_node = argument(node, 0, "shape")
    dims = shapes.shape_of(run, shape_node, env) if shape_node is not None else None
    dtype = run.dtype(argument(node, dtype_position, "dtype"), env)
    return replace(value, dims=dims, dtype=dtype, poly=None)


def _zeros(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    return _filled(run, node, env, Value(constant=0), 1)


def _full(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    fill = argument(node, 1, "value")
    return _filled(run, node, env, run.eval(fill, env) if fill is not None else Value(), 2)


def _zeros_like(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = arguments(run, node, env)
    return Value(dims=values[0].dims, constant=0, dtype=values[0].dtype) if values else Value(dims=None)


def _cdiv(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = arguments(run, node, env)
    result = elementwise(values, node.lineno, "cdiv")
    if len(values) == 2 and values[0].poly is not None and values[1].poly is not None and not result.dims:
        return number(result, opaque_of("cdiv", values[0].poly, values[1].poly), *values)
    return result


def _next_power_of_2(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = arguments(run, node, env)
    result = elementwise(values, node.lineno, "next_power_of_2")
    if len(values) == 1 and values[0].poly is not None:
        return number(result, opaque_of("next_power_of_2", values[0].poly), *values)
    return result


def _swizzle2d(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    part = replace(elementwise(arguments(run, node, env), node.lineno, "swizzle2d"), poly=None)
    return Value(items=(part, part))


def _where(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = arguments(run, node, env)
    if len(values) != 3:
        return opaque(run, node, env)
    return where(values[0], values[1], values[2], node.lineno)


def _cast_call(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    first = argument(node, 0, "input")
    return cast(run, run.eval(first, env) if first is not None else Value(), node, env, 1)


def _dot(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    a, b = (argument(node, i, n) for i, n in enumerate(("input", "other")))
    acc = argument(node, 2, "acc")
    if a is None or b is None:
        return opaque(run, node, env)
    left, right = run.eval(a, env), run.eval(b, env)
    accumulator = run.eval(acc, env) if acc is not None else None
    result = shapes.dot(run, left, right, accumulator, node)
    run.record_work(
        "dot", node, result, elementwise([replace(left, dims=()), replace(right, dims=())], node.lineno, "dot")
    )
    return result


def _expand(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    first = argument(node, 0, "input")
    value = run.eval(first, env) if first is not None else Value(dims=None)
    axis_node = argument(node, 1, "axis")
    axis = run.eval(axis_node, env).constant if axis_node is not None else None
    if value.dims is None or not isinstance(axis, int):
        return run.lose(value, node, "expand_dims")
    rank = len(value.dims) + 1
    return shapes.expanded(run, value, [i == axis % rank for i in range(rank)], node)


def _trans(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    first = argument(node, 0, "input")
    value = run.eval(first, env) if first is not None else Value(dims=None)
    rest = (
        node.args[1].elts if len(node.args) == 2 and isinstance(node.args[1], (ast.Tuple, ast.List)) else node.args[1:]
    )
    order = [run.eval(a, env).constant for a in rest]
    if not order:
        return shapes.permuted(value, None)
    if not all(isinstance(o, int) for o in order):
        return run.lose(value, node, "permute")
    return shapes.permuted(value, [o for o in order if isinstance(o, int)])


def _reshape(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    first = argument(node, 0, "input")
    value = run.eval(first, env) if first is not None else Value(dims=None)
    rest = node.args[1:]
    if len(rest) == 1:
        dims = shapes.shape_of(run, rest[0], env)
    elif rest:
        dims = tuple(_dim(p.key if (p := run.eval(r, env).poly) is not None else None) for r in rest)
    else:
        shape = argument(node, 1, "shape")
        dims = shapes.shape_of(run, shape, env) if shape is not None else None
    return shapes.reshaped(run, value, dims, "reshape", node)


def _broadcast_to(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    first = argument(node, 0, "input")
    value = run.eval(first, env) if first is not None else Value(dims=None)
    shape = argument(node, 1, "shape")
    return shapes.broadcast(run, value, shapes.shape_of(run, shape, env) if shape is not None else None, node)


def _split(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = arguments(run, node, env)
    value = values[0] if values else Value(dims=None)
    part = (
        run.lose(value, node, "split")
        if value.dims is None or (value.dims and value.dims[-1].lanes)
        else replace(value, dims=value.dims[:-1], poly=None)
    )
    return Value(items=(part, part))


def _inline_asm(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = [item for value in arguments(run, node, env) for item in (value.items or (value,))]
    inputs = elementwise(values, node.lineno, "inline assembly") if values else Value()
    pure, pack = argument(node, 4, "is_pure"), argument(node, 5, "pack")
    if isinstance(pure, ast.Constant) and pure.value is True and isinstance(pack, ast.Constant) and pack.value == 1:
        # Pure and one element at a time: lane by lane by Triton's contract.
        return inputs
    run.unknown("inline assembly", node, replace(inputs, bases=frozenset()))
    return replace(run.lose(inputs, node, "inline assembly"), dims=inputs.dims)


def _map_elementwise(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = [run.eval(a, env) for a in node.args[1:]]
    return elementwise(values, node.lineno, "map_elementwise") if values else Value(dims=None)


def range_value(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = arguments(run, node, env)
    return elementwise(values, node.lineno, "range") if values else Value()


HANDLERS: dict[str, Handler] = {
    "program_id": _program_id,
    "num_programs": _num_programs,
    "arange": _arange,
    "zeros": _zeros,
    "full": _full,
    "zeros_like": _zeros_like,
    "cdiv": _cdiv,
    "next_power_of_2": _next_power_of_2,
    "swizzle2d": _swizzle2d,
    "where": _where,
    "cast": _cast_call,
    "dot": _dot,
    "dot_scaled": opaque,
    "load": lambda r, n, e: memory.load(r, n, e),
    "store": lambda r, n, e: memory.store(r, n, e),
    "make_block_ptr": lambda r, n, e: memory.block_pointer(r, n, e, descriptor=False),
    "make_tensor_descriptor": lambda r, n, e: memory.block_pointer(r, n, e, descriptor=True),
    "_experimental_make_tensor_descriptor": lambda r, n, e: memory.block_pointer(r, n, e, descriptor=True),
    "advance": memory.advance,
    "expand_dims": _expand,
    "trans": _trans,
    "permute": _trans,
    "reshape": _reshape,
    "view": _reshape,
    "broadcast_to": _broadcast_to,
    "ravel": _reshape,
    "split": _split,
    "inline_asm_elementwise": _inline_asm,
    "map_elementwise": _map_elementwise,
    "range": range_value,
    "static_range": range_value,
}
