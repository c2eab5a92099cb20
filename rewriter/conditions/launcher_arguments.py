"""Arguments of the launcher itself that only size blocks or set launch options: decisions that it offers to callers.

    def decode(q, ..., block_v=None, num_warps=1, nk=2):
        BV = block_v if block_v is not None else 64
        BKT = BK // nk
        kernel[(cdiv(V, BV), B)](q, ..., BV=BV, NK=nk, BKT=BKT, num_warps=num_warps)

Here `block_v` is a tile (the grid follows from it), `nk` a split (a number of blocks, with their size as a quotient by
it), `num_warps` an option. An argument counts only where all that becomes of it are checks, the grid, options of the
launch, and constexpr parameters that the kernel uses as block sizes and block counts; any other (a page size, a number
of iterations) may be part of the result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..kernel.count import reads_of
from ..kernel.definition import KernelDef, Module
from ..kernel.grid import read_grid
from ..kernel.idioms import follow
from ..kernel.launch import Launch, launches_of
from ..kernel.scope import Binding, reaching, statement_of, within
from ..reasons import Refuse

_DEPTH = 4
"""Names that are followed from the argument to the launch."""


@dataclass(frozen=True)
class LauncherArgument:
    """One argument with a default that a caller may leave out."""

    name: str
    default: ast.Constant
    reaches: tuple[str, ...]
    """Constexpr parameters of the kernel, and options of the launch, that depend on it."""
    kind: Literal["tile", "split", "option"]

    @property
    def value(self) -> int | None:
        """The default; None where the launcher then chooses itself."""
        return self.default.value if type(self.default.value) is int else None


def launcher_arguments(module: Module, kernel: KernelDef) -> tuple[LauncherArgument, ...]:
    """Every such argument of the function that launches the kernel; none where several functions do."""
    launches = launches_of(module, kernel)
    functions = {launch.function for launch in launches}
    if len(functions) != 1 or any(launch.others or launch.positional_splat for launch in launches):
        return ()
    function = functions.pop()
    if not isinstance(function, ast.FunctionDef) or function not in module.source.tree.body:
        return ()
    found = []
    for argument, default in _defaults(function):
        if isinstance(default, ast.Constant) and (default.value is None or type(default.value) is int):
            binding = Binding(argument.arg, "parameter", argument, None, default)
            ends = _Ends(module, kernel, launches)
            kind = ends.kind(argument.arg) if ends.follow((binding,), _DEPTH) else None
            if kind is not None:
                found.append(LauncherArgument(argument.arg, default, tuple(sorted(ends.reached)), kind))
    return tuple(found)


@dataclass
class _Ends:
    """Where a value ends up."""

    module: Module
    kernel: KernelDef
    launches: tuple[Launch, ...]

    def __post_init__(self) -> None:
        self.reached: set[str] = set()
        self.in_grid = False
        self._grids = list(self._grid_nodes())

    def follow(self, bindings: tuple[Binding, ...], depth: int) -> bool:
        """True where every read of the bindings is one of those that an argument may have."""
        reads = reads_of(self.module, bindings, self.launches[0].function)
        return depth > 0 and all(self._read(node, depth) for node in reads)

    def kind(self, name: str) -> Literal["tile", "split", "option"] | None:
        """What the argument is, by all that it reaches."""
        parameters = self.reached & set(self.kernel.parameter_names)
        if not parameters:
            return "option" if self.reached else None
        if parameters != self.reached:
            return None
        if self.in_grid:
            return "tile" if len(parameters) == 1 else None
        passed = [launch.arguments[p] for launch in self.launches for p in parameters]
        counts = [a for a in passed if isinstance(a, ast.Name) and a.id == name]
        sizes = [a for a in passed if _is_quotient(follow(self.module, a)[0], name)]
        return "split" if len(counts) == len(sizes) == len(self.launches) and len(parameters) == 2 else None

    def _read(self, node: ast.Name, depth: int) -> bool:
        for launch in self.launches:
            for parameter, argument in launch.arguments.items():
                if within(self.module.source, node, argument):
                    return self._parameter(parameter)
            for option, keyword in launch.options.items():
                if keyword.value is node:
                    self.reached.add(option)
                    return True
        if any(within(self.module.source, node, grid) for grid in self._grids):
            self.in_grid = True
            return True
        statement = statement_of(self.module.source, node)
        if _is_check(statement):
            return True
        match statement:
            case ast.Assign(targets=[ast.Name() as target]) | ast.AnnAssign(target=ast.Name() as target):
                return _is_size(statement.value) and self.follow(self._bound(target, statement), depth - 1)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                places = [i for i, v in enumerate(values) if within(self.module.source, node, v)]
                facing = targets[places[0]]
                if isinstance(facing, ast.Name) and _is_size(values[places[0]]):
                    return self.follow(self._bound(facing, statement), depth - 1)
        return False

    def _bound(self, target: ast.Name, statement: ast.stmt) -> tuple[Binding, ...]:
        """The binding as its readers see it."""
        function = self.launches[0].function
        assert function is not None
        for read in ast.walk(function):
            if isinstance(read, ast.Name) and read.id == target.id and isinstance(read.ctx, ast.Load):
                found = [b for b in reaching(self.module.source, target.id, read) if b.node is target]
                if found:
                    return (found[0],)
        return (Binding(target.id, "assign", target, statement),)

    def _parameter(self, name: str) -> bool:
        parameter = self.kernel.parameter(name)
        if parameter is None or not parameter.is_constexpr or not only_blocks(self.module, self.kernel, name):
            return False
        self.reached.add(name)
        return True

    def _grid_nodes(self) -> Iterator[ast.AST]:
        for launch in self.launches:
            if launch.grid is not None:
                yield launch.grid
            try:
                yield from (choice.node for choice in read_grid(self.module, launch).choices)
            except Refuse:
                continue


def only_blocks(module: Module, kernel: KernelDef, name: str) -> bool:
    """True where the kernel uses a constexpr only as a size or a count of blocks, never in a comparison of values."""
    return all(
        _is_block_use(module, node, kernel)
        for node in ast.walk(kernel.node)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    )


def _is_block_use(module: Module, node: ast.Name, kernel: KernelDef) -> bool:
    child: ast.AST = node
    parent = module.source.parents[child]
    while not isinstance(parent, ast.stmt):
        match parent:
            case ast.Call(func=function):
                called = module.names.triton_name(function) or ast.unparse(function)
                return called in (
                    "arange",
                    "zeros",
                    "full",
                    "range",
                    "static_range",
                    "cdiv",
                    "static_assert",
                    "reshape",
                )
            case ast.BinOp(op=ast.Mult(), left=left, right=right) if child in (left, right):
                return True
            case ast.List() | ast.Tuple() | ast.keyword() | ast.BinOp(op=ast.FloorDiv()):
                child, parent = parent, module.source.parents[parent]
            case _:
                return False
    return isinstance(parent, ast.Assert)


def _is_quotient(value: ast.expr, name: str) -> bool:
    """`size // name`."""
    return (
        isinstance(value, ast.BinOp)
        and isinstance(value.op, ast.FloorDiv)
        and isinstance(value.right, ast.Name)
        and value.right.id == name
    )


def _is_size(value: ast.expr | None) -> bool:
    """Arithmetic on sizes, `a if a is not None else b`, `min`, `max` and the helpers of Triton."""
    if value is None:
        return False
    calls = [n for n in ast.walk(value) if isinstance(n, ast.Call)]
    names = {ast.unparse(c.func).split(".")[-1] for c in calls}
    return names <= {"min", "max", "int", "cdiv", "next_power_of_2"} and not any(
        isinstance(n, ast.Subscript | ast.Lambda | ast.List | ast.Dict) for n in ast.walk(value)
    )


def _is_check(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assert | ast.Raise):
        return True
    return (
        isinstance(statement, ast.If) and not statement.orelse and all(isinstance(s, ast.Raise) for s in statement.body)
    )


def _defaults(function: ast.FunctionDef) -> Iterator[tuple[ast.arg, ast.expr]]:
    positional = [*function.args.posonlyargs, *function.args.args]
    given = function.args.defaults
    yield from zip(positional[len(positional) - len(given) :], given, strict=True)
    for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if default is not None:
            yield argument, default
