"""Arguments of a call, casts, and calls whose body is not known."""

from __future__ import annotations

import ast
import builtins
from dataclasses import replace
from typing import TYPE_CHECKING

from .arithmetic import elementwise, union
from .axes import UNKNOWN_ROOT, Axis
from .memory import argument
from .operations import INTEGERS, WIDE_INTEGERS
from .syntax import rooted_in
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
    if run.callee(node.func, env) is None and not _reads_type(node, env):
        # A function whose source was not found may read any program id.
        inputs = replace(inputs, uniform=inputs.uniform | {Axis(UNKNOWN_ROOT)})
    if any(v.is_block for v in values):
        return run.lose(inputs, node, ast.unparse(node.func))
    return replace(inputs, poly=None, bases=frozenset(), dtype=None, constant=None)


def _reads_type(node: ast.Call, env: Environment) -> bool:
    """True for a method of a value, and for Python's own functions: neither reads a program id."""
    if isinstance(node.func, ast.Attribute):
        return rooted_in(node.func, env) or not isinstance(node.func.value, ast.Name | ast.Attribute)
    return isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id)


def cast(run: Interpreter, value: Value, node: ast.Call, env: Environment, position: int) -> Value:
    target = argument(node, position, "dtype")
    dtype = run.dtype(target, env)
    if target is not None:
        run.eval(target, env)
    keeps = dtype in WIDE_INTEGERS or (dtype is None and value.poly is not None)
    cross = value.cross
    if dtype in INTEGERS and value.dtype not in INTEGERS:
        # Each partial sum is cut to a whole number.
        cross = frozenset(replace(c, linear=False) for c in cross)
    return replace(
        value,
        cross=cross,
        dtype=dtype,
        poly=value.poly if keeps else None,
        constant=value.constant if keeps or value.is_zero else None,
        bounds=value.bounds,
    )
