"""The conditions that the authors wrote round a Triton kernel: what it asserts, what chooses it, what sizes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from skel.rewriter.kernel.autotune import heuristics_of
from skel.rewriter.kernel.count import outermost
from skel.rewriter.kernel.definition import KernelDef, Module
from skel.rewriter.kernel.launch import Launch

from .comments import Comment, shortened, stating
from .model import Condition
from .resources import block_sizes

MOST = 60
"""Conditions kept of one kernel."""


def conditions(
    module: Module, kernel: KernelDef, launches: tuple[Launch, ...], comments: tuple[Comment, ...]
) -> tuple[Condition, ...]:
    """Each once, in source order: of the kernel, of its decorators, and of the functions that launch it."""
    hosts = _hosts(module, launches)
    sized = {n for launch in launches for n in _sizing_names(module, launch)}
    found = [*_asserts(module, kernel.node), *_decorators(kernel)]
    for host in hosts:
        found += [*_asserts(module, host), *_branches(host, sized)]
    for function in (kernel.node, *hosts):
        first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
        last = function.end_lineno or function.lineno
        found += [Condition("comment", c["line"], c["text"]) for c in stating(comments, first, last)]
    unique = {(c.kind, c.line, c.text): c for c in found}
    return tuple(sorted(unique.values(), key=lambda c: (c.line, c.kind)))[:MOST]


def _hosts(module: Module, launches: tuple[Launch, ...]) -> list[ast.FunctionDef]:
    """The functions round the launches, and those of the file that they call to choose sizes."""
    found: dict[int, ast.FunctionDef] = {}
    for launch in launches:
        around = outermost(module, launch.function)
        if not isinstance(around, ast.FunctionDef):
            continue
        found[id(around)] = around
        for call in ast.walk(around):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                for helper in module.names.functions.get(call.func.id, ()):
                    if isinstance(helper, ast.FunctionDef) and _chooses(helper) and not _is_kernel(module, helper):
                        found.setdefault(id(helper), helper)
    return sorted(found.values(), key=lambda f: f.lineno)


def _is_kernel(module: Module, function: ast.FunctionDef) -> bool:
    return any(kernel.node is function for kernel in module.kernels)


def _chooses(function: ast.FunctionDef) -> bool:
    """True for a helper that compares something with a number and returns a number, or several."""
    compares = any(isinstance(n, ast.Compare) and _numbers(n) for n in ast.walk(function))
    returns = [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]
    return compares and any(_numbers(value) for value in returns)


def _numbers(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Constant) and type(n.value) in (int, float) for n in ast.walk(node))


def _sizing_names(module: Module, launch: Launch) -> Iterator[str]:
    """Names that the launch gives its blocks' sizes, its options and its grid: what a dispatch would set."""
    sizes = block_sizes(module, launch.kernel)
    values = [value for name, value in launch.arguments.items() if name in sizes]
    values += [keyword.value for keyword in launch.options.values()]
    if launch.grid is not None:
        values.append(launch.grid)
    for value in values:
        yield from (n.id for n in ast.walk(value) if isinstance(n, ast.Name))


def _asserts(module: Module, function: ast.FunctionDef) -> Iterator[Condition]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            yield Condition("assert", node.lineno, shortened(ast.unparse(node.test)))
        elif isinstance(node, ast.Call) and node.args:
            if module.names.triton_name(node.func) in ("static_assert", "device_assert"):
                yield Condition("assert", node.lineno, shortened(ast.unparse(node.args[0])))
        elif isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise):
            yield Condition("guard", node.lineno, shortened(f"raises if {ast.unparse(node.test)}"))


def _decorators(kernel: KernelDef) -> Iterator[Condition]:
    for name, function in heuristics_of(kernel):
        yield Condition("heuristic", function.lineno, shortened(f"{name}: {ast.unparse(function)}"))
    if kernel.autotune is not None:
        for keyword in kernel.autotune.keywords:
            if keyword.arg == "prune_configs_by":
                yield Condition("prune", keyword.value.lineno, shortened(ast.unparse(keyword.value)))


def _branches(function: ast.FunctionDef, sized: set[str]) -> Iterator[Condition]:
    """Choices by a number that set what the launch is given, and returns of a helper that chooses."""
    for node in ast.walk(function):
        if isinstance(node, ast.If) and not isinstance(node.body[-1], ast.Raise):
            set_here = _sets(node.body, sized)
            if set_here:
                text = f"if {ast.unparse(node.test)}: {'; '.join(set_here)}"
                other = _sets(node.orelse, sized) if not _is_elif(node) else []
                yield Condition(
                    "dispatch", node.lineno, shortened(text + (f"; else: {'; '.join(other)}" if other else ""))
                )
        elif isinstance(node, ast.Assign) and _names(node) & sized and isinstance(node.value, ast.IfExp):
            yield Condition("dispatch", node.lineno, shortened(ast.unparse(node)))
        elif isinstance(node, ast.Assign) and _names(node) & sized and _is_cap(node.value):
            yield Condition("dispatch", node.lineno, shortened(ast.unparse(node)))


def _is_elif(node: ast.If) -> bool:
    return len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)


def _sets(body: list[ast.stmt], sized: set[str]) -> list[str]:
    """Statements of an arm that set a name the launch is given, or return numbers."""
    found = []
    for statement in body:
        if isinstance(statement, ast.Assign) and _names(statement) & sized:
            found.append(ast.unparse(statement))
        elif isinstance(statement, ast.Return) and statement.value is not None and _numbers(statement.value):
            found.append(ast.unparse(statement))
    return found


def _names(statement: ast.Assign) -> set[str]:
    return {n.id for target in statement.targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def _is_cap(value: ast.expr) -> bool:
    """`min(next_power_of_2(V), 32)`, `max(16, ...)`: a number that bounds a size."""
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in ("min", "max")
        and any(isinstance(a, ast.Constant) for a in value.args)
    )
