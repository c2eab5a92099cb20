"""Small readings of the syntax tree that the interpreter needs: literals, names, argument binding."""

from __future__ import annotations

import ast
import re

from ..kernel.definition import KernelDef
from . import poly as P
from .value import Environment, Value


def symbols_in(key: str | None) -> frozenset[str]:
    """Parameters named in the key of a size."""
    return frozenset(re.findall(r"[A-Za-z_]\w*", key or ""))


def constant(value: object) -> Value:
    """The value of a Python literal."""
    if isinstance(value, bool):
        return Value(constant=value, dtype="int1")
    if isinstance(value, int):
        return Value(constant=value, poly=P.const(value))
    if isinstance(value, float):
        return Value(constant=value)
    return Value(dtype="none") if value is None else Value()


def rooted_in(node: ast.expr, env: Environment) -> bool:
    """True where an attribute chain starts at a local name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in env.names


def is_constexpr_test(test: ast.expr, constexprs: frozenset[str]) -> bool:
    """True where a branch is decided at compile time: it reads constexpr parameters only."""
    names = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
    return bool(names) and names <= constexprs


def assigned_names(body: list[ast.stmt]) -> set[str]:
    """Every name that statements may set."""
    return {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def bind_arguments(helper: KernelDef, args: list[Value], keywords: dict[str, Value]) -> dict[str, Value] | None:
    """A helper's parameters with the values of a call; None where the call does not fit."""
    names = helper.parameter_names
    if len(args) > len(names) or any(k not in names for k in keywords):
        return None
    bound = dict(zip(names, args, strict=False)) | keywords
    for parameter in helper.parameters:
        if parameter.name not in bound:
            if parameter.default is None:
                return None
            default = parameter.default
            bound[parameter.name] = constant(default.value) if isinstance(default, ast.Constant) else Value()
    return bound
