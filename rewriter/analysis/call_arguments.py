"""Arguments of a call, casts, and calls whose body is not known."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from .arithmetic import elementwise, union
from .memory import argument
from .operations import INTEGERS
from .value import Environment, Value

if TYPE_CHECKING:
    from .interpreter import Interpreter


def arguments(run: Interpreter, node: ast.Call, env: Environment) -> list[Value]:
    values = [run.eval(a.value if isinstance(a, ast.Starred) else a, env) for a in node.args]
    return values + [run.eval(k.value, env) for k in node.keywords]


def opaque(run: Interpreter, node: ast.Call, env: Environment) -> Value:
    """A call whose body is not known: a pure function of its arguments as far as axes go; lanes are lost."""
    values = arguments(run, node, env)
    if isinstance(node.func, ast.Attribute):
        values.append(run.eval(node.func.value, env))
    inputs = elementwise(values, node.lineno, "call") if values else Value()
    inputs = replace(
        inputs, uniform=inputs.uniform | union(v.axes - v.lanes for v in values), bases=union(v.bases for v in values)
    )
    run.unknown(ast.unparse(node.func), node, inputs)
    if any(v.is_block for v in values):
        return run.lose(inputs, node, ast.unparse(node.func))
    return replace(inputs, poly=None, bases=frozenset(), dtype=None, constant=None)


def cast(run: Interpreter, value: Value, node: ast.Call, env: Environment, position: int) -> Value:
    target = argument(node, position, "dtype")
    dtype = run.dtype(target, env)
    if target is not None:
        run.eval(target, env)
    keeps = dtype in INTEGERS or (dtype is None and value.poly is not None)
    return replace(
        value,
        dtype=dtype,
        poly=value.poly if keeps else None,
        constant=value.constant if keeps or value.is_zero else None,
        bounds=value.bounds,
    )
