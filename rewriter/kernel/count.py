"""Tile counts: the factor of a grid dimension that says how many tiles cover a dimension, and who else reads it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from .definition import Module
from .grid import GridChoice, grid_site, meta_function
from .idioms import Division, ceiling_division, constant_value, factors, identity
from .launch import Launch
from .scope import (
    Binding,
    Function,
    enclosing_function,
    has_other_names,
    names_read,
    reaching,
    set_by,
    statement_of,
    within,
)

CountUseKind = Literal["grid", "other_grid", "argument", "scratch", "dtype", "assert", "derived", "other"]
_ALLOCATORS = frozenset(
    "empty zeros ones full new_empty new_zeros new_ones new_full empty_like zeros_like empty_strided".split()
)


@dataclass(frozen=True)
class CountUse:
    """One read of the number of tiles."""

    kind: CountUseKind
    node: ast.expr
    what: str

    @property
    def line(self) -> int:
        return self.node.lineno


@dataclass(frozen=True)
class Count:
    """`dimension / tile` as a factor of a grid dimension."""

    dimension: ast.expr
    """The dimension as a host expression; for `META["S"]` the argument bound to S."""
    tile: ast.expr
    """The tile in the count: a name, a literal or `META["BV"]`."""
    count_node: ast.expr
    """The division itself, names followed to their definition."""
    use_node: ast.expr
    """The factor that is the count: the division itself, or the first name that stands for it alone."""
    other_factors: tuple[ast.expr, ...]
    floor_division: bool
    exact: bool
    """True where the tiles surely cover the dimension: rounded up, or the divisibility is asserted."""
    divisibility: ast.stmt | None
    """The statement that asserts it."""
    bindings: tuple[Binding, ...]
    """Names followed from the grid dimension to the division."""
    outer: tuple[Binding, ...]
    """Those of them that stand above `use_node`: names of products that hold the count."""
    from_meta: bool
    """True where the tile is read from the grid function's argument, so that it follows the launch by itself."""
    ambiguous: bool = False
    """True where only the literal value ties the count to the tile, and another argument has the same value."""
    uses: tuple[CountUse, ...] = ()
    """Reads of those names other than in this launch's grid."""


def tile_count(
    module: Module, launch: Launch, dimension: ast.expr, param: str, meta: str | None = None
) -> Count | None:
    """The count of `param`'s tiles in a grid dimension expression, or None where there is none.

    `meta` is the parameter of the grid function (`GridChoice.meta`).
    """
    counts = list(_counts(module, launch, dimension, param, meta, _Path(), 6))
    if len(counts) != 1:
        return None
    count = counts[0]
    return replace(
        count, uses=tuple(_uses_of_names(module, launch, count)), ambiguous=_ambiguous(module, launch, count, param)
    )


def tile_counts(
    module: Module, launch: Launch, choices: tuple[GridChoice, ...], axis: int, param: str
) -> tuple[Count, ...] | None:
    """The count of an axis in every choice of a grid; None where any choice does not count tiles there."""
    found = []
    for choice in choices:
        if axis >= len(choice.dims):
            return None
        count = tile_count(module, launch, choice.dims[axis], param, choice.meta)
        if count is None:
            return None
        found.append(count)
    return tuple(found)


def tile_axes(
    module: Module, launch: Launch, choices: tuple[GridChoice, ...], param: str
) -> dict[int, tuple[Count, ...]]:
    """Every axis whose size counts the tiles of `param`, with its counts."""
    axes = range(min(len(c.dims) for c in choices))
    return {axis: counts for axis in axes if (counts := tile_counts(module, launch, choices, axis, param)) is not None}


def divisions_by(module: Module, launch: Launch, tile: ast.expr, dimension: ast.expr) -> list[Division]:
    """Every division of that dimension by that tile in the launching function (or the module, without one)."""
    scope = outermost(module, launch.function)
    key, size = identity(module, tile), identity(module, dimension)
    found = []
    for node in ast.walk(scope):
        if isinstance(node, ast.expr):
            division = ceiling_division(module, node)
            site = grid_site(module, launch, node) if division is not None else None
            if (
                division is not None
                and identity(module, division.tile, site) == key
                and identity(module, division.dimension, site) == size
            ):
                found.append(division)
    return found


@dataclass(frozen=True)
class _Path:
    """Names passed on the way to a division, and the node that stands for the count alone."""

    bindings: tuple[Binding, ...] = ()
    use: ast.expr | None = None
    outer: tuple[Binding, ...] = ()


def _counts(
    module: Module, launch: Launch, node: ast.expr, param: str, meta: str | None, path: _Path, depth: int
) -> Iterator[Count]:
    parts = factors(node)
    if len(parts) > 1:
        path = replace(path, use=None, outer=path.bindings)
    for part in parts:
        others = tuple(p for p in parts if p is not part)
        for count in _part(module, launch, part, param, meta, path, depth):
            yield replace(count, other_factors=(*others, *count.other_factors))


def _part(
    module: Module, launch: Launch, node: ast.expr, param: str, meta: str | None, path: _Path, depth: int
) -> Iterator[Count]:
    division = ceiling_division(module, node)
    if division is not None:
        from_meta = _is_meta(module, division.tile, meta) == param
        if from_meta or _is_tile(module, launch, division.tile, param):
            yield _count(module, launch, division, meta, replace(path, use=path.use or node), from_meta)
        return
    if isinstance(node, ast.Name) and depth:
        bindings = reaching(module.source, node.id, node, grid_site(module, launch, node))
        if len(bindings) == 1 and bindings[0].kind == "assign" and bindings[0].value is not None:
            deeper = _Path((*path.bindings, bindings[0]), path.use or node, path.outer)
            yield from _counts(module, launch, bindings[0].value, param, meta, deeper, depth - 1)


def _count(module: Module, launch: Launch, division: Division, meta: str | None, path: _Path, from_meta: bool) -> Count:
    dimension = division.dimension
    key = _is_meta(module, dimension, meta)
    if key is not None and key in launch.arguments:
        dimension = launch.arguments[key]
    statement = _divisibility(module, launch, division) if division.floor else None
    return Count(
        dimension,
        division.tile,
        division.node,
        path.use or division.node,
        (),
        division.floor,
        not division.floor or statement is not None,
        statement,
        path.bindings,
        path.outer,
        from_meta,
    )


def _is_meta(module: Module, node: ast.expr, meta: str | None) -> str | None:
    """`BV` for `META["BV"]` (also through a local name), else None."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str() as key)) if name == meta:
            return key
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(value=str() as key), *_]
        ) if name == meta:
            return key
        case ast.Name(id=name) if meta is not None:
            bindings = reaching(module.source, name, node)
            around = meta_function(module, node)
            if (
                len(bindings) == 1
                and bindings[0].value is not None
                and bindings[0].statement is not None
                and around is not None
                and within(module.source, bindings[0].statement, around)
            ):
                return _is_meta(module, bindings[0].value, meta)
    return None


def _is_tile(module: Module, launch: Launch, node: ast.expr, param: str) -> bool:
    argument = launch.arguments.get(param)
    site = grid_site(module, launch, node)
    if argument is not None:
        if identity(module, node, site) == identity(module, argument):
            return True
        # A literal on one side, a name for the same literal on the other; two different names are two tiles.
        value = constant_value(module, argument)
        literal = isinstance(node, ast.Constant) or isinstance(argument, ast.Constant)
        return literal and value is not None and value == constant_value(module, node, site)
    match node:
        case ast.Subscript(value=container, slice=ast.Constant(value=key)) if key == param:
            return any(identity(module, container, site) == identity(module, splat) for splat in launch.splats)
        case ast.Name():
            # BV = cfg["BV"] beside K[grid](..., **cfg)
            bindings = reaching(module.source, node.id, node, site)
            return (
                len(bindings) == 1
                and bindings[0].kind == "assign"
                and isinstance(bindings[0].value, ast.Subscript)
                and _is_tile(module, launch, bindings[0].value, param)
            )
    return False


def _ambiguous(module: Module, launch: Launch, count: Count, param: str) -> bool:
    argument = launch.arguments.get(param)
    if argument is None or not (isinstance(argument, ast.Constant) or isinstance(count.tile, ast.Constant)):
        return False
    value = constant_value(module, argument)
    others = [a for name, a in launch.arguments.items() if name != param and name in launch.kernel.constexprs]
    return any(constant_value(module, other) == value for other in others)


def _divisibility(module: Module, launch: Launch, division: Division) -> ast.stmt | None:
    """`assert D % T == 0` (alone or in an `and`), or `if D % T: raise`, anywhere in the launching function."""
    scope = outermost(module, launch.function)
    site = grid_site(module, launch, division.node)
    want = identity(module, division.dimension, site), identity(module, division.tile, site)
    for node in ast.walk(scope):
        tests: list[ast.expr] = []
        if isinstance(node, ast.Assert):
            tests = _parts(node.test, ast.And)
        elif isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise):
            tests = _parts(node.test, ast.Or)
        for test in tests:
            remainder = _remainder_is_zero(test) if isinstance(node, ast.Assert) else _remainder_is_not_zero(test)
            if remainder is not None and (identity(module, remainder.left), identity(module, remainder.right)) == want:
                assert isinstance(node, ast.stmt)
                return node
    return None


def _parts(test: ast.expr, operator: type[ast.boolop]) -> list[ast.expr]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, operator):
        return [part for value in test.values for part in _parts(value, operator)]
    return [test]


def _remainder_is_zero(test: ast.expr) -> ast.BinOp | None:
    match test:
        case ast.Compare(
            left=ast.BinOp(op=ast.Mod()) as remainder, ops=[ast.Eq()], comparators=[ast.Constant(value=0)]
        ):
            return remainder
        case ast.UnaryOp(op=ast.Not(), operand=ast.BinOp(op=ast.Mod()) as remainder):
            return remainder
    return None


def _remainder_is_not_zero(test: ast.expr) -> ast.BinOp | None:
    match test:
        case ast.BinOp(op=ast.Mod()):
            return test
        case ast.Compare(
            left=ast.BinOp(op=ast.Mod()) as remainder, ops=[ast.NotEq() | ast.Gt()], comparators=[ast.Constant(value=0)]
        ):
            return remainder
    return None


def _uses_of_names(module: Module, launch: Launch, count: Count) -> Iterator[CountUse]:
    pending = list(count.bindings)
    for statement in [b.statement for b in count.bindings if has_other_names(b)]:
        pending += [b for b in (set_by(statement) if statement is not None else []) if b not in pending]
    seen = set(pending)
    while pending:
        for node in reads_of(module, (pending.pop(),), launch.function):
            use = count_use(module, launch, node, count)
            yield use
            if use.kind == "derived":
                # What is computed from the number of tiles depends on it as well.
                found = [b for b in _derived(module, node) if b not in seen]
                seen.update(found)
                pending += found


def _derived(module: Module, node: ast.expr) -> list[Binding]:
    """What the statement around a read sets from it."""
    found = set_by(statement_of(module.source, node))
    return [b for b in found if b.value is None or within(module.source, node, b.value)]


def count_use(module: Module, launch: Launch, node: ast.expr, count: Count) -> CountUse:
    """What a read of the number of tiles is for."""
    source = module.source
    bound_values = [b.value for b in count.bindings if b.value is not None]
    if node is count.use_node or any(within(source, node, v) for v in bound_values):
        return CountUse("grid", node, "the grid")
    child: ast.AST = node
    parent = source.parents.get(child)
    while parent is not None and not isinstance(child, ast.stmt):
        if isinstance(parent, ast.keyword) and parent.arg == "dtype":
            return CountUse("dtype", node, "a dtype")
        if isinstance(parent, ast.Call):
            if isinstance(parent.func, ast.Subscript):
                mine = parent is launch.call
                if within(source, node, parent.func):
                    return CountUse("grid" if mine else "other_grid", node, "a grid")
                return CountUse("argument", node, f"an argument of {ast.unparse(parent.func.value)}")
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
            if name in _ALLOCATORS and child is not parent.func:
                return CountUse("scratch", node, "the shape of a buffer")
        if isinstance(parent, ast.IfExp) and child is parent.test and _is_dtype(parent.body, parent.orelse):
            return CountUse("dtype", node, "a dtype")
        child, parent = parent, source.parents.get(parent)
    statement = statement_of(source, node)
    if isinstance(statement, ast.Assert) or (
        isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Raise)
    ):
        return CountUse("assert", node, "a check")
    if isinstance(statement, ast.If) and _sets_dtype(statement):
        return CountUse("dtype", node, "a dtype")
    if isinstance(statement, ast.Assign) and any("dtype" in ast.unparse(target) for target in statement.targets):
        return CountUse("dtype", node, "a dtype")
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return CountUse("derived", node, f"the value at line {statement.lineno}")
    return CountUse("other", node, f"the statement at line {statement.lineno}")


def tile_count_uses(module: Module, launch: Launch, param: str, count: Count) -> list[CountUse]:
    """Every read of the number of tiles: of its names, and of the same division written again, which may have names
    of its own."""
    tile = launch.arguments.get(param) if count.from_meta else count.tile
    found = list(count.uses)
    for division in [] if tile is None else divisions_by(module, launch, tile, count.dimension):
        use = count_use(module, launch, division.node, count)
        found.append(use)
        if use.kind == "derived":
            named = replace(count, bindings=tuple(_derived(module, division.node)))
            found += [u for u in _uses_of_names(module, launch, named) if u not in found]
    return found


def outermost(module: Module, function: Function | None) -> ast.AST:
    """The function that no other holds, around this one or itself; the module for None."""
    around: ast.AST = function or module.source.tree
    while function is not None:
        around, function = function, enclosing_function(module.source, function)
    return around


def reads_of(module: Module, bindings: tuple[Binding, ...], function: Function | None) -> list[ast.Name]:
    """Names that may see one of these bindings, in the outermost function around (or the module)."""
    nodes = {id(b.node) for b in bindings}
    wanted = {b.name for b in bindings}
    return [
        n
        for n in names_read(outermost(module, function))
        if n.id in wanted and any(id(b.node) in nodes for b in reaching(module.source, n.id, n))
    ]


def _is_dtype(*arms: ast.expr) -> bool:
    return any("dtype" in text or "float" in text for text in map(ast.unparse, arms))


def _sets_dtype(statement: ast.If) -> bool:
    return any(
        "dtype" in ast.unparse(target)
        for s in (*statement.body, *statement.orelse)
        if isinstance(s, ast.Assign)
        for target in s.targets
    )
