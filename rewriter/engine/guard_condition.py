"""The condition under which a variant runs: the sizes and dtypes it was measured at, in the launcher's own words."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from ..analysis.facts import analyse
from ..conditions.context import same_value
from ..conditions.fusable_axis import tile_parameter
from ..kernel.count import tile_axes
from ..kernel.definition import Module
from ..kernel.grid import read_grid
from ..kernel.launch import Launch
from ..reasons import refuse
from .guard_choices import Choice
from .guard_prologue import only_reads
from .guard_tests import dtype_tests, further_sizes, in_parentheses, tests_for_none, value_test


@dataclass(frozen=True)
class _Size:
    """The work beside the fused axis: a host expression for the number of programs of the other axes."""

    text: str
    names: frozenset[str]
    axis: int
    """Place of the fused axis in the grid."""
    shares: bool
    """True where other axes share the fused axis' grid dimension (a flattened id)."""
    tile: str
    """The kernel parameter that sizes the tile."""
    dimension: str | None
    """The kernel parameter that receives the tiled dimension, where there is one."""


def guard_condition(module: Module, launch: Launch, choices: Sequence[Choice], variant: str) -> tuple[str, int]:
    """Source text of the condition, and the index of the statement after which all its names are set (-1: none needed).

    Raises Refuse(`guard_not_possible`).
    """
    size = _size(module, launch)
    groups = _groups(module, launch, choices, size)
    parts: list[tuple[str, ...]] = []
    for key, members in groups.items():
        _require_told_apart(launch, members)
        parts += [(*key, span) for span in _spans(size, members, variant)]
    if not parts:
        raise refuse("guard_not_possible", launch.call, why=f"{variant} is chosen nowhere")
    text = _common([tuple(tests_for_none(launch, part)) for part in parts])
    names = {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}
    return text, _place(launch, names)


def _size(module: Module, launch: Launch) -> _Size:
    """`N * H` of a grid `(cdiv(V, BV), N * H)`."""
    grid = read_grid(module, launch)
    if len(grid.choices) != 1:
        raise refuse("guard_not_possible", launch.call, why="the grid has several forms")
    tile = _tile(module, launch)
    axes = tile_axes(module, launch, grid.choices, tile) if tile is not None else {}
    if len(axes) != 1:
        raise refuse("guard_not_possible", launch.call, why="the grid does not count the tiles of one axis")
    ((axis, counts),) = axes.items()
    dims = grid.choices[0].dims
    factors = [*counts[0].other_factors, *(d for i, d in enumerate(dims) if i != axis)]
    if not all(only_reads(f) for f in factors):
        raise refuse("guard_not_possible", launch.call, why="the grid's sizes are not only read")
    text = " * ".join(ast.unparse(f) if _is_product(f) else in_parentheses(f) for f in factors) or "1"
    names = frozenset(n.id for f in factors for n in ast.walk(f) if isinstance(n, ast.Name))
    dimension = next((p for p, a in launch.arguments.items() if same_value(module, a, counts[0].dimension)), None)
    assert tile is not None
    return _Size(text, names, axis, bool(counts[0].other_factors), tile, dimension)


def _is_product(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def _tile(module: Module, launch: Launch) -> str | None:
    facts = analyse(module, launch.kernel)
    found = {tile_parameter(facts, a) for a in facts.tiled_axes} - {None}
    grid = read_grid(module, launch)
    counted = [t for t in found if t is not None and len(tile_axes(module, launch, grid.choices, t)) == 1]
    return counted[0] if len(counted) == 1 else None


def _programs(size: _Size, choice: Choice) -> int:
    """The value of the size expression at a workload, from the recorded grid."""
    total = 1
    for i, n in enumerate(choice.grid):
        if i != size.axis:
            total *= n
    if size.shares:
        count = _tile_count(size, choice)
        if count is None or choice.grid[size.axis] % count:
            raise refuse("guard_not_possible", 1, why="the flattened grid cannot be divided by its tiles")
        total *= choice.grid[size.axis] // count
    return total


def _groups(
    module: Module, launch: Launch, choices: Sequence[Choice], size: _Size
) -> dict[tuple[str, ...], list[tuple[int, Choice]]]:
    """Workloads by everything but the size: dimensions that the launcher names, and dtypes that vary."""
    dims = _dimension_names(launch, choices, size)
    more = further_sizes(launch, choices, dims, size.names)
    groups: dict[tuple[str, ...], list[tuple[int, Choice]]] = {}
    for choice in choices:
        key = [value_test(text, choice.constants[parameter]) for parameter, text in {**dims, **more}.items()]
        key += dtype_tests(module, launch, choices, choice)
        groups.setdefault(tuple(key), []).append((_programs(size, choice), choice))
    return groups


def _require_told_apart(launch: Launch, members: Sequence[tuple[int, Choice]]) -> None:
    """Raises Refuse where workloads that differ in nothing the launcher knows should run different variants."""
    first: dict[int, Choice] = {}
    for programs, choice in members:
        other = first.setdefault(programs, choice)
        if other.variant != choice.variant:
            why = f"the launching function cannot tell {other.label} and {choice.label} apart"
            raise refuse("guard_not_possible", launch.call, why=why)


def _tile_count(size: _Size, choice: Choice) -> int | None:
    """Tiles of the fused axis at a workload."""
    tile, dimension = choice.constants.get(size.tile), choice.constants.get(size.dimension or "")
    return None if not tile or dimension is None else -(-dimension // tile)


def _dimension_names(launch: Launch, choices: Sequence[Choice], size: _Size) -> dict[str, str]:
    """Kernel parameters that are plain shape names of the launcher and no part of the size."""
    function = launch.function
    assert isinstance(function, ast.FunctionDef)
    found: dict[str, str] = {}
    for parameter, argument in launch.arguments.items():
        if not isinstance(argument, ast.Name) or argument.id in size.names or argument.id in found.values():
            continue
        if not all(parameter in c.constants for c in choices) or not _is_shape(function, argument.id):
            continue
        found[parameter] = argument.id
    return found


def _is_shape(function: ast.FunctionDef, name: str) -> bool:
    """True for a name set from a shape at the function's top level, or one of its own parameters."""
    if name in {a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}:
        return True
    for statement in function.body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(n, ast.Name) and n.id == name for t in statement.targets for n in ast.walk(t)
        ):
            return any(isinstance(n, ast.Attribute) and n.attr in ("shape", "size") for n in ast.walk(statement.value))
    return False


def _spans(size: _Size, members: list[tuple[int, Choice]], variant: str) -> list[str]:
    """Runs of neighbouring sizes at which the variant is chosen: between two measured sizes it is taken to hold."""
    found: list[str] = []
    run: list[int] = []
    for programs, choice in sorted(members, key=lambda pair: pair[0]):
        if choice.variant == variant:
            run.append(programs)
        elif run:
            found.append(_span(size, run))
            run = []
    if run:
        found.append(_span(size, run))
    return found


def _span(size: _Size, run: list[int]) -> str:
    if run[0] == run[-1]:
        return f"{size.text} == {run[0]}"
    return f"{run[0]} <= {size.text} <= {run[-1]}"


def _common(parts: Sequence[tuple[str, ...]]) -> str:
    """`a and (b or c)` for `a and b`, `a and c`: the tests that all parts share come first."""
    shared = [t for t in parts[0] if all(t in other for other in parts)]
    rests = list(dict.fromkeys(tuple(t for t in one if t not in shared) for one in parts))
    if () in rests:
        return " and ".join(shared)
    if len(rests) == 1:
        return " and ".join([*shared, *rests[0]])
    options = " or ".join(f"({' and '.join(rest)})" if len(rest) > 1 else rest[0] for rest in rests)
    return " and ".join([*shared, f"({options})"]) if shared else options


def _place(launch: Launch, names: set[str]) -> int:
    """Index of the top-level statement after which every name is set. Raises Refuse where one is set in a branch."""
    function = launch.function
    assert isinstance(function, ast.FunctionDef)
    parameters = {a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    last = -1
    if function.body and isinstance(function.body[0], ast.Expr) and isinstance(function.body[0].value, ast.Constant):
        last = 0
    for name in names:
        places = [
            i
            for i, s in enumerate(function.body)
            if any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(s))
        ]
        if not places:
            continue
        if len(places) > 1 or not isinstance(function.body[places[0]], ast.Assign):
            if name in parameters or len(places) > 1:
                raise refuse("guard_not_possible", function.body[places[0]], why=f"{name} is set more than once")
            raise refuse("guard_not_possible", function.body[places[0]], why=f"{name} is set in a branch")
        last = max(last, places[0])
    return last


__all__ = ["guard_condition"]
