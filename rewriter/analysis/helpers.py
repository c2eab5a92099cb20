"""The helpers that a kernel reaches, and whether one of them asks which program it is."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from ..kernel.definition import KernelDef, Module
from .flow import flow_of
from .operators import callee_of, is_method, operation

_DEPTH = 4
_PROGRAM = frozenset({"program_id", "num_programs"})


def helper_calls(
    module: Module, kernel: KernelDef, depth: int = _DEPTH
) -> Iterator[tuple[ast.Call, Module, KernelDef]]:
    """Every call of a helper in the kernel itself, with each definition behind it and behind its own calls."""
    flow = flow_of(kernel.node)
    for node in ast.walk(kernel.node):
        callee = callee_of(module, flow, node) if isinstance(node, ast.Call) else None
        for where, helper in callee.definitions if callee is not None else ():
            assert isinstance(node, ast.Call)
            yield node, where, helper
            if depth:
                yield from ((node, m, k) for _, m, k in helper_calls(where, helper, depth - 1))


def program_calls(module: Module, kernel: KernelDef) -> list[tuple[ast.Call, str]]:
    """Calls of `program_id` and `num_programs` in the kernel itself, in source order, each with its name."""
    flow = flow_of(kernel.node)
    found = []
    for node in ast.walk(kernel.node):
        if isinstance(node, ast.Call):
            name = operation(module, flow, node)
            if name in _PROGRAM:
                found.append((node, name))
    return sorted(found, key=lambda pair: (pair[0].lineno, pair[0].col_offset))


def asks_in_helper(module: Module, kernel: KernelDef) -> ast.Call | None:
    """The kernel's call of a helper that asks which program it is, or how many there are; None where none does."""
    for call, where, helper in helper_calls(module, kernel):
        if program_calls(where, helper):
            return call
    return None


def unknown_call(module: Module, kernel: KernelDef) -> ast.Call | None:
    """A call, in the kernel or in a helper, of a function whose source was not found: it may ask for anything.

    For one in a helper, the kernel's own call of that helper.
    """
    bodies = [(module, kernel, None), *((m, k, call) for call, m, k in helper_calls(module, kernel))]
    for where, function, call in bodies:
        flow = flow_of(function.node)
        inside = {n for d in function.node.decorator_list for n in ast.walk(d)}
        for node in ast.walk(function.node):
            if not isinstance(node, ast.Call) or node in inside or callee_of(where, flow, node) is not None:
                continue
            is_builtin = isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id)
            if not is_method(where, flow, node) and not is_builtin:
                return call or node
    return None


def axis_of(call: ast.Call) -> int | None:
    """The axis number of a `program_id` or `num_programs` call; None where it is no literal."""
    argument = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "axis"), None)
    return argument.value if isinstance(argument, ast.Constant) and type(argument.value) is int else None
