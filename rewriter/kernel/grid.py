"""Grids: the dimensions of a launch, read from tuples, names, lambdas and `def grid(meta)`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from ..reasons import Refuse, refuse
from .definition import Module
from .launch import Launch
from .scope import Binding, reaching, within

GridForm = Literal["tuple", "list", "lambda", "def", "single"]
_ARITHMETIC = (ast.Constant, ast.BinOp, ast.Call, ast.Attribute, ast.Subscript, ast.UnaryOp)


@dataclass(frozen=True)
class GridChoice:
    """One way in which the grid may be given."""

    form: GridForm
    dims: tuple[ast.expr, ...]
    """The expressions as they stand in the source: their spans can be edited."""
    meta: str | None
    """Name of the parameter of a lambda or `def grid(META)`."""
    node: ast.AST
    """The tuple, list, lambda, def or expression."""
    bindings: tuple[Binding, ...]
    """Names passed on the way, outermost first; empty where the grid stands at the launch."""


@dataclass(frozen=True)
class Grid:
    """The grid of a launch. All choices have the same number of dimensions."""

    choices: tuple[GridChoice, ...]

    @property
    def dims(self) -> tuple[ast.expr, ...]:
        """Dimensions of the first choice."""
        return self.choices[0].dims

    @property
    def meta(self) -> str | None:
        return self.choices[0].meta

    @property
    def form(self) -> GridForm:
        return self.choices[0].form

    def axis(self, number: int) -> tuple[ast.expr, ...]:
        """The expression of one axis in every choice; empty where the grid has no such axis (its size is 1)."""
        return tuple(c.dims[number] for c in self.choices if number < len(c.dims))


def read_grid(module: Module, launch: Launch) -> Grid:
    """The grid of a launch. Raises Refuse(unreadable_launch) where it cannot be followed."""
    if launch.grid is None:
        raise _unreadable(launch, launch.call, "it has no grid")
    choices = tuple(_choices(module, launch, launch.grid, (), 4))
    if len({len(c.dims) for c in choices}) > 1:
        raise _unreadable(launch, launch.grid, "its grids differ in the number of dimensions")
    return Grid(choices)


def meta_function(module: Module, node: ast.AST) -> ast.Lambda | ast.FunctionDef | None:
    """The lambda or function that computes the grid around a dimension expression, seen from inside it."""
    current: ast.AST | None = node
    while current is not None:
        if isinstance(current, ast.Lambda | ast.FunctionDef):
            return current
        current = module.source.parents.get(current)
    return None


def grid_site(module: Module, launch: Launch, node: ast.AST) -> ast.AST | None:
    """Where the function around a dimension expression is called: the launch, if it is a grid function; else None."""
    around = meta_function(module, node)
    return launch.call if around is not None and not within(module.source, launch.call, around) else None


def _choices(
    module: Module, launch: Launch, node: ast.expr, passed: tuple[Binding, ...], depth: int
) -> list[GridChoice]:
    match node:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            if not elements or any(isinstance(e, ast.Starred) for e in elements):
                raise _unreadable(launch, node, "its grid is unpacked from another value")
            return [GridChoice("list" if isinstance(node, ast.List) else "tuple", tuple(elements), None, node, passed)]
        case ast.IfExp(body=body, orelse=orelse):
            return [*_choices(module, launch, body, passed, depth), *_choices(module, launch, orelse, passed, depth)]
        case ast.Lambda(args=arguments, body=body):
            return _function(module, launch, node, arguments, [body], passed)
        case ast.Name(id=name):
            return _name(module, launch, node, name, passed, depth)
    if isinstance(node, _ARITHMETIC) and not passed:
        # `K[n](...)`: an int, or a call or attribute that gives a tuple; only arithmetic is surely an int.
        if isinstance(node, ast.Constant | ast.BinOp | ast.UnaryOp) and not _builds_tuple(node):
            return [GridChoice("single", (node,), None, node, passed)]
        raise _unreadable(launch, node, "its grid is the result of a call or stored elsewhere")
    raise _unreadable(launch, node, "its grid is no tuple, lambda or function")


def _name(
    module: Module, launch: Launch, node: ast.expr, name: str, passed: tuple[Binding, ...], depth: int
) -> list[GridChoice]:
    bindings = reaching(module.source, name, node)
    if not bindings or depth == 0:
        raise _unreadable(launch, node, f"the grid {name} is not defined in the file")
    found: list[GridChoice] = []
    for binding in bindings:
        path = (*passed, binding)
        if binding.kind == "assign" and binding.value is not None:
            found += _choices(module, launch, binding.value, path, depth - 1)
        elif binding.kind == "definition" and isinstance(binding.node, ast.FunctionDef):
            function = binding.node
            more = next((s for s in function.body if _does_more(s)), None)
            if more is not None:
                raise _unreadable(launch, more, f"the grid function {name} does more than compute the grid")
            values = [s.value for s in _returns(function.body)]
            if not values or any(v is None for v in values):
                raise _unreadable(launch, function, f"the grid function {name} returns nothing")
            found += _function(module, launch, function, function.args, [v for v in values if v is not None], path)
        else:
            how = "comes from the caller" if binding.kind == "parameter" else "cannot be followed"
            raise _unreadable(launch, node, f"the grid {name} {how}")
    return found


def _function(
    module: Module,
    launch: Launch,
    node: ast.Lambda | ast.FunctionDef,
    arguments: ast.arguments,
    bodies: list[ast.expr],
    passed: tuple[Binding, ...],
) -> list[GridChoice]:
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    if len(names) - len(arguments.defaults) > 1 or not names or arguments.vararg is not None:
        raise _unreadable(launch, node, "its grid function takes other than one argument")
    form: GridForm = "lambda" if isinstance(node, ast.Lambda) else "def"
    found: list[GridChoice] = []
    for body in bodies:
        try:
            inner = _choices(module, launch, body, (), 3)
        except Refuse:
            raise _unreadable(launch, body, "its grid function returns no tuple") from None
        for choice in inner:
            found.append(GridChoice(form, choice.dims, names[0], choice.node, (*passed, *choice.bindings)))
    return found


def _does_more(statement: ast.stmt) -> bool:
    """True for a statement of a grid function whose effect may be seen elsewhere, or that is not followed."""
    match statement:
        case ast.If(body=body, orelse=orelse):
            return any(map(_does_more, (*body, *orelse)))
        case ast.Assign(targets=targets):
            return not all(isinstance(t, ast.Name | ast.Tuple) for t in targets)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return not isinstance(target, ast.Name)
        case ast.Expr(value=value):
            return not isinstance(value, ast.Constant)
    return not isinstance(statement, ast.Return | ast.Assert | ast.Raise | ast.Pass)


def _builds_tuple(node: ast.expr) -> bool:
    return any(isinstance(n, ast.Tuple | ast.List) for n in ast.walk(node))


def _returns(body: list[ast.stmt]) -> list[ast.Return]:
    found: list[ast.Return] = []
    for statement in body:
        if isinstance(statement, ast.Return):
            found.append(statement)
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for block in ("body", "orelse", "finalbody"):
                found += _returns(getattr(statement, block, []))
            for handler in getattr(statement, "handlers", []):
                found += _returns(handler.body)
    return found


def _unreadable(launch: Launch, where: ast.AST, why: str) -> Refuse:
    return refuse("unreadable_launch", launch.call, also=[where], kernel=launch.kernel.name, why=why)
