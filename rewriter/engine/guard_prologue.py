"""What runs before the guard runs again in the copy: it may only look at shapes, and set a parameter only once."""

from __future__ import annotations

import ast
from collections.abc import Collection

from ..kernel.source import SourceFile
from ..reasons import Refuse, refuse

_READS = frozenset(
    {
        "any",
        "all",
        "tuple",
        "isinstance",
        "size",
        "stride",
        "dim",
        "numel",
        "cdiv",
        "next_power_of_2",
        "min",
        "max",
        "len",
        "int",
        "bool",
        "element_size",
        "is_contiguous",
    }
)


def require_simple_function(source: SourceFile, function: ast.FunctionDef) -> None:
    """Raises Refuse(`guard_not_possible`) where `return copy(...)` is not what the function would have done."""
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in _own_nodes(function)):
        raise _impossible("the launching function is a generator", function)
    first = function.body[0]
    if source.text[source.line_start(first.lineno) : source.offset(first.lineno, first.col_offset)].strip():
        raise _impossible("the launching function stands in one line", first)


def whole_lines(function: ast.FunctionDef, last: int) -> int:
    """Index of the last statement that begins in a line in which statement `last` ends: `N = 1; M = 2`."""
    while last + 1 < len(function.body) and function.body[last + 1].lineno == function.body[last].end_lineno:
        last += 1
    return last


def require_pure_prologue(function: ast.FunctionDef, last: int) -> None:
    """Raises Refuse(`guard_not_possible`) where a statement up to `last` may not run twice."""
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    parameters = {a.arg for a in given if a is not None}
    outside = {name for node in _own_nodes(function) if isinstance(node, ast.Global) for name in node.names}
    for statement in function.body[: last + 1]:
        if not _pure(statement) or stored(statement) & outside:
            raise _impossible(f"line {statement.lineno} before the guard does more than read shapes", statement)
        again = stored(statement) & parameters - _filled_in(statement)
        if again:
            raise _impossible(f"line {statement.lineno} sets `{min(again)}`, and would set it again", statement)


def require_unset(function: ast.FunctionDef, last: int, names: Collection[str]) -> None:
    """The guard asks whether the caller left these parameters alone, so nothing before it may set them."""
    for statement in function.body[: last + 1]:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names:
                raise _impossible(f"`{node.id}` is set before the guard", node)


def stored(statement: ast.stmt) -> set[str]:
    """Names that the statement sets."""
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def only_reads(node: ast.expr) -> bool:
    """True for an expression that may be evaluated once more without a difference."""
    return not any(_acts(n) for n in ast.walk(node))


def _own_nodes(function: ast.FunctionDef) -> list[ast.AST]:
    """The function's nodes without those of functions and classes inside it."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        found.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            pending += ast.iter_child_nodes(node)
    return found


def _filled_in(statement: ast.stmt) -> set[str]:
    """`p` of `if p is None: p = ...`, which does nothing the second time."""
    match statement:
        case ast.If(
            test=ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]),
            body=[ast.Assign(targets=[ast.Name(id=target)])],
            orelse=[],
        ) if name == target:
            return {name}
    return set()


def _pure(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Global():
            return True
        case ast.Assert(test=test):
            return only_reads(test)
        case ast.If(test=test, body=body, orelse=orelse):
            # A check of the arguments would raise again.
            return only_reads(test) and all(isinstance(one, ast.Raise) or _pure(one) for one in (*body, *orelse))
        case ast.Assign(targets=targets, value=value):
            return all(_names_only(target) for target in targets) and only_reads(value)
    return False


def _names_only(target: ast.expr) -> bool:
    match target:
        case ast.Name():
            return True
        case ast.Starred(value=value):
            return _names_only(value)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return all(_names_only(one) for one in elements)
    return False


def _acts(node: ast.AST) -> bool:
    """True for a call that may do more than read."""
    if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = (
        node.func.attr
        if isinstance(node.func, ast.Attribute)
        else node.func.id
        if isinstance(node.func, ast.Name)
        else ""
    )
    return name not in _READS


def _impossible(why: str, where: ast.AST) -> Refuse:
    return refuse("guard_not_possible", where, why=why)
