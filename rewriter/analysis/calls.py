"""Calls: Triton's language functions by their table, methods of values, helpers inlined, the rest unknown."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from . import memory, shapes
from . import poly as P
from .arithmetic import elementwise, opaque_of, union, where, with_poly
from .axes import Axis
from .memory import argument
from .operations import ELEMENTWISE, HINTS, INTEGERS, KEEPS_ZERO, NO_VALUE, REDUCTIONS, SCANS, TRANSCENDENTAL
from .value import Environment, Value

if TYPE_CHECKING:
    from .interpreter import Interpreter

Handler = Callable[["Interpreter", ast.Call, Environment], Value]


def call(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    """The value of a call."""
    callee = run.callee(node.func, env)
    if callee is not None and callee.triton is not None and not callee.definitions:
        return language(run, callee.triton, node, env)
    if callee is not None and callee.definitions:
        return _helper(run, node, env, callee.definitions, callee.triton)
    if isinstance(node.func, ast.Attribute) and run.frame.module.names.dotted(node.func) is None:
        return _method(run, node, env)
    if isinstance(node.func, ast.Name) and node.func.id in _BUILTINS and node.func.id not in env.names:
        return _BUILTINS[node.func.id](run, node, env)
    return _opaque(run, node, env)


def language(run: Interpreter, name: str, node: ast.Call, env: Environment) -> Value:
    """A function of `triton.language`."""
    short = name.split(".")[-1]
    handler = _HANDLERS.get(short)
    if handler is not None:
        return handler(run, node, env)
    if short.startswith("atomic_"):
        return memory.atomic(run, node, env, short)
    if short in REDUCTIONS:
        return _reduction(run, short, node, env)
    if short in SCANS:
        return _scan(run, short, node, env)
    if short in HINTS:
        values = _arguments(run, node, env)
        return values[0] if values else Value()
    if short in NO_VALUE:
        _arguments(run, node, env)
        return Value()
    if short in ELEMENTWISE or "libdevice." in name:
        return _elementwise(run, short, node, env)
    return _opaque(run, node, env)


def _arguments(run: Interpreter, node: ast.Call, env: Environment) -> list[Value]:
    values = [run.eval(a.value if isinstance(a, ast.Starred) else a, env) for a in node.args]
    return values + [run.eval(k.value, env) for k in node.keywords]


def _opaque(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    """A call whose body is not known: a pure function of its arguments as far as axes go; lanes are lost."""
    values = _arguments(run, node, env)
    if isinstance(node.func, ast.Attribute):
        values.append(run.eval(node.func.value, env))
    inputs = elementwise(values, node.lineno, "call") if values else Value()
    inputs = replace(inputs, uniform=inputs.uniform | union(v.axes - v.lanes for v in values), bases=union(v.bases for v in values))
    run.unknown(ast.unparse(node.func), node, inputs)
    if any(v.is_block for v in values):
        return run.lose(inputs, node, ast.unparse(node.func))
    return replace(inputs, poly=None, bases=frozenset(), dtype=None, constant=None)


def _helper(run: Interpreter, node: ast.Call, env: Environment, definitions: tuple, triton: str | None) -> Value:  # type: ignore[type-arg]
    from .joins import join
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        return _opaque(run, node, env)
    args = [run.eval(a, env) for a in node.args]
    keywords = {k.arg: run.eval(k.value, env) for k in node.keywords if k.arg}
    results: list[Value] = []
    for module, kernel in definitions:
        value = run.inline(module, kernel, node, args, keywords)
        if value is None:
            return _opaque(run, node, env)
        results.append(value)
    if triton is not None:
        results.append(language(run, triton, node, env))
    joined = results[0]
    for i, value in enumerate(results[1:]):
        joined = join(joined, value, f"helper{run.site(node)}.{i}")
    return joined


# -- methods ------------------------------------------------------------------------------------------------------------


def _method(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    assert isinstance(node.func, ast.Attribute)
    value = run.eval(node.func.value, env)
    name = node.func.attr
    if value.block is not None and value.dims == () and name in ("load", "store", "gather", "scatter", "atomic_add"):
        return _descriptor(run, node, env, value, name)
    if name == "to" or name == "cast":
        return _cast(run, value, node, env, 0)
    if name in ("value", "item"):
        return value
    # A method is the function of that name with the value as first argument.
    as_call = ast.Call(func=node.func, args=[node.func.value, *node.args], keywords=node.keywords)
    ast.copy_location(as_call, node)
    if name in _HANDLERS or name in REDUCTIONS or name in SCANS or name in ELEMENTWISE or name.startswith("atomic_"):
        return language(run, name, as_call, env)
    return _opaque(run, node, env)


def _descriptor(run: Interpreter, node: ast.Call, env: Environment, descriptor: Value, name: str) -> Value:
    if name not in ("load", "store"):
        return _opaque(run, node, env)
    pointer = memory.descriptor_access(run, node, env, descriptor, node.args[0] if node.args else None)
    if name == "load":
        return memory.load(run, node, env, pointer)
    return memory.store(run, node, env, pointer)


def _cast(run: Interpreter, value: Value, node: ast.Call, env: Environment, position: int) -> Value:
    target = argument(node, position, "dtype")
    dtype = run.dtype(target, env)
    if target is not None:
        run.eval(target, env)
    keeps = dtype in INTEGERS or (dtype is None and value.poly is not None)
    return replace(value, dtype=dtype, poly=value.poly if keeps else None,
                   constant=value.constant if keeps or value.is_zero else None, bounds=value.bounds)


# -- functions ----------------------------------------------------------------------------------------------------------


def _program_id(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    number = _axis_number(node)
    poly = P.axis_poly(Axis(number if number is not None else ast.unparse(node)))
    return Value(poly=poly, uniform=poly.uniform_axes, dtype="int32")


def _num_programs(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    number = _axis_number(node)
    run.events.program_counts[int(number) if number is not None else -1] = node
    return Value(poly=P.opaque(f"num_programs({number})"), symbols=frozenset({f"num_programs({number})"}), dtype="int32")


def _axis_number(node: ast.Call) -> str | None:
    value = argument(node, 0, "axis")
    return str(value.value) if isinstance(value, ast.Constant) and isinstance(value.value, int) else None


def _arange(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    start, end = (run.eval(a, env) if (a := argument(node, i, n)) is not None else Value() for i, n in enumerate(("start", "end")))
    size = P.sub(end.poly, start.poly) if start.poly is not None and end.poly is not None else None
    if size is None or start.poly is None:
        return Value(dims=(_dim(None),), dtype="int32")
    poly = P.add(start.poly, P.lane_range(run.site(node), size))
    result = Value(dims=(_dim(size.key),), dtype="int32", symbols=size.symbols, uniform=start.uniform)
    return with_poly(result, poly, start, Value(poly=size, symbols=size.symbols))


def _number(result: Value, poly: P.Poly, *operands: Value) -> Value:
    """An integer function of integers: never a pointer."""
    return replace(with_poly(result, poly, *operands), bases=frozenset())


def _dim(size: str | None):  # type: ignore[no-untyped-def]
    from .value import Dim
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
    values = _arguments(run, node, env)
    return Value(dims=values[0].dims, constant=0, dtype=values[0].dtype) if values else Value(dims=None)


def _cdiv(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = _arguments(run, node, env)
    result = elementwise(values, node.lineno, "cdiv")
    if len(values) == 2 and values[0].poly is not None and values[1].poly is not None and not result.dims:
        return _number(result, opaque_of("cdiv", values[0].poly, values[1].poly), *values)
    return result


def _next_power_of_2(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = _arguments(run, node, env)
    result = elementwise(values, node.lineno, "next_power_of_2")
    if len(values) == 1 and values[0].poly is not None:
        return _number(result, opaque_of("next_power_of_2", values[0].poly), *values)
    return result


def _swizzle2d(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    part = replace(elementwise(_arguments(run, node, env), node.lineno, "swizzle2d"), poly=None)
    return Value(items=(part, part))


def _where(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = _arguments(run, node, env)
    if len(values) != 3:
        return _opaque(run, node, env)
    return where(values[0], values[1], values[2], node.lineno)


def _cast_call(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    first = argument(node, 0, "input")
    return _cast(run, run.eval(first, env) if first is not None else Value(), node, env, 1)


def _dot(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    a, b = (argument(node, i, n) for i, n in enumerate(("input", "other")))
    acc = argument(node, 2, "acc")
    if a is None or b is None:
        return _opaque(run, node, env)
    left, right = run.eval(a, env), run.eval(b, env)
    accumulator = run.eval(acc, env) if acc is not None else None
    result = shapes.dot(run, left, right, accumulator, node)
    run.record_work("dot", node, result, elementwise([replace(left, dims=()), replace(right, dims=())], node.lineno, "dot"))
    return result


def _reduction(run: Interpreter, name: str, node: ast.Call, env: Environment) -> Value:
    first = argument(node, 0, "input")
    value = run.eval(first, env) if first is not None else Value(dims=None)
    axis, known = _axis_argument(run, node, env)
    keep = argument(node, 9, "keep_dims")
    keep_dims = isinstance(keep, ast.Constant) and keep.value is True
    operation = name
    if value.items is not None:
        items = tuple(shapes.reduced(run, i, axis, keep_dims, operation, node) if known else run.lose(i, node, name) for i in value.items)
        return Value(items=items)
    result = shapes.reduced(run, value, axis, keep_dims, operation, node) if known else run.lose(value, node, name)
    if name in ("max", "min") and any(k.arg == "return_indices" for k in node.keywords):
        result = Value(items=(result, result))
    run.record_work(name, node, result, value)
    return result


def _axis_argument(run: Interpreter, node: ast.Call, env: Environment) -> tuple[int | None, bool]:
    """Dimension of a reduction or scan and whether it is known; no argument means all."""
    value = argument(node, 1, "axis") or argument(node, 9, "dim")
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return None, True
    constant = run.eval(value, env).constant
    return (constant, True) if isinstance(constant, int) else (None, False)


def _scan(run: Interpreter, name: str, node: ast.Call, env: Environment) -> Value:
    first = argument(node, 0, "input")
    value = run.eval(first, env) if first is not None else Value(dims=None)
    axis, known = _axis_argument(run, node, env)
    if value.items is not None:
        return Value(items=tuple(shapes.scanned(run, i, axis, name, node) if known else run.lose(i, node, name) for i in value.items))
    result = shapes.scanned(run, value, axis, name, node) if known else run.lose(value, node, name)
    run.record_work(name, node, result, value)
    return result


def _elementwise(run: Interpreter, name: str, node: ast.Call, env: Environment) -> Value:
    values = _arguments(run, node, env)
    if not values:
        return Value()
    result = elementwise(values, node.lineno, name, keeps_zero=name in KEEPS_ZERO, linear=name in ("cast", "neg"))
    if name in ("minimum", "maximum") and all(v.poly is not None and not v.dims for v in values):
        operands = [v.poly for v in values if v.poly is not None]
        result = _number(result, opaque_of(name, *operands), *values)
    if name in ("rand", "randint", "randn", "philox", "randint4x", "rand4x", "randn4x"):
        result = replace(result, items=tuple(replace(result) for _ in range(4)) if name.endswith("4x") or name == "philox" else None)
    if name in TRANSCENDENTAL or name.startswith("fast_"):
        run.record_work(name, node, result, values[0])
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
    rest = node.args[1].elts if len(node.args) == 2 and isinstance(node.args[1], (ast.Tuple, ast.List)) else node.args[1:]
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
    values = _arguments(run, node, env)
    value = values[0] if values else Value(dims=None)
    part = run.lose(value, node, "split") if value.dims is None or (value.dims and value.dims[-1].lanes) \
        else replace(value, dims=value.dims[:-1], poly=None)
    return Value(items=(part, part))


def _inline_asm(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = [item for value in _arguments(run, node, env) for item in (value.items or (value,))]
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


def _range(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = _arguments(run, node, env)
    return elementwise(values, node.lineno, "range") if values else Value()


_HANDLERS: dict[str, Handler] = {
    "program_id": _program_id, "num_programs": _num_programs, "arange": _arange, "zeros": _zeros, "full": _full,
    "zeros_like": _zeros_like, "cdiv": _cdiv, "next_power_of_2": _next_power_of_2, "swizzle2d": _swizzle2d, "where": _where, "cast": _cast_call, "dot": _dot, "dot_scaled": _opaque,
    "load": lambda r, n, e: memory.load(r, n, e), "store": lambda r, n, e: memory.store(r, n, e),
    "make_block_ptr": lambda r, n, e: memory.block_pointer(r, n, e, descriptor=False),
    "make_tensor_descriptor": lambda r, n, e: memory.block_pointer(r, n, e, descriptor=True),
    "_experimental_make_tensor_descriptor": lambda r, n, e: memory.block_pointer(r, n, e, descriptor=True),
    "advance": memory.advance, "expand_dims": _expand, "trans": _trans, "permute": _trans, "reshape": _reshape,
    "view": _reshape, "broadcast_to": _broadcast_to, "ravel": _reshape, "split": _split,
    "inline_asm_elementwise": _inline_asm, "map_elementwise": _map_elementwise,
    "range": _range, "static_range": _range,
}


# -- Python's own ----------------------------------------------------------------------------------------------------------


def _scalar_builtin(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    values = _arguments(run, node, env)
    result = elementwise(values, node.lineno, "builtin") if values else Value()
    if values and all(v.poly is not None and not v.dims for v in values):
        name = node.func.id if isinstance(node.func, ast.Name) else "builtin"
        if name == "int" and len(values) == 1:
            return values[0]
        return _number(result, opaque_of(name, *[v.poly for v in values if v.poly is not None]), *values)
    return result


_BUILTINS: dict[str, Handler] = {name: _scalar_builtin for name in ("min", "max", "abs", "int", "float", "bool", "len", "isinstance")}
_BUILTINS["range"] = _range
