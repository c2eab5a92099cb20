"""What every rewrite of a launcher asks first: may these launches be changed together?"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..kernel.count import Count, outermost, reads_of, tile_axes, tile_count_uses
from ..kernel.definition import Module
from ..kernel.grid import Grid, read_grid
from ..kernel.idioms import identity
from ..kernel.launch import Launch
from ..kernel.scope import has_other_names, statement_of, within
from ..kernel.tile import TileBinding, trace_tile
from ..reasons import refuse

BY_SPELLING = frozenset({"locals", "globals", "vars", "eval", "exec"})
"""Builtins that read names by their spelling, so that no analysis sees who reads what."""


def require_same_choice(module: Module, launches: Sequence[Launch], param: str | None) -> None:
    """Several launches change together only where tile and options read the same.

    Raises Refuse: no launches is a fault of the caller; unreadable_launch where a call may launch another kernel or
    hides arguments; several_launch_sites.
    """
    kernel = launches[0].kernel
    for launch in launches:
        if launch.others:
            why = f"the same call may launch {', '.join(launch.others)}"
            raise refuse("unreadable_launch", launch.call, kernel=kernel.name, why=why)
        if launch.positional_splat is not None:
            raise refuse("unreadable_launch", launch.call, kernel=kernel.name, why="its arguments come from *args")
    if len({_choice(module, launch, param) for launch in launches}) > 1:
        lines = [launch.line for launch in launches]
        raise refuse(
            "several_launch_sites",
            launches[0].call,
            also=lines,
            kernel=kernel.name,
            count=len(lines),
            lines=", ".join(map(str, lines)),
        )


def counted_axis(module: Module, launch: Launch, param: str, axis: int | None) -> tuple[int, tuple[Count, ...]]:
    """The grid axis whose size counts the tiles, with its count in every form of the grid.

    Raises Refuse: unreadable_launch; grid_not_tied_to_tile; tile_shared where two axes count the same tile.
    """
    grid = read_grid(module, launch)
    _require_names_followed(module, launch)
    axes = tile_axes(module, launch, grid.choices, param)
    # Equal literals may be chance; a caller who names the axis has seen in the kernel that it walks these tiles.
    axes = {a: counts for a, counts in axes.items() if a == axis or not any(c.ambiguous for c in counts)}
    wanted = next(iter(axes), None) if axis is None else axis
    if wanted is None or wanted not in axes:
        where = "any axis" if axis is None else f"axis {axis}"
        raise refuse("grid_not_tied_to_tile", launch.call, also=[grid.choices[0].node], axis=where, tile=param)
    if len(axes) > 1:
        other = next(a for a in axes if a != wanted)
        node = axes[other][0].use_node
        raise refuse(
            "tile_shared", launch.call, also=[node], tile=param, what=f"axis {other} of the grid", line=node.lineno
        )
    counts = axes[wanted]
    if len({identity(module, c.dimension) for c in counts}) > 1:
        raise refuse("grid_not_tied_to_tile", launch.call, axis=f"axis {wanted}", tile=param)
    require_own_grid(module, launch, grid)
    return wanted, counts


def _require_names_followed(module: Module, launch: Launch) -> None:
    """Raises Refuse(unreadable_launch) where the launching function may read its names by their spelling."""
    for node in ast.walk(outermost(module, launch.function)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BY_SPELLING:
            why = f"{node.func.id}() may read any name"
            raise refuse("unreadable_launch", launch.call, also=[node], kernel=launch.kernel.name, why=why)


def require_own_grid(module: Module, launch: Launch, grid: Grid) -> None:
    """Raises Refuse(tile_shared) where the grid is also the grid of another kernel, or is read in another way."""
    inside = [c.node for c in grid.choices]
    inside += [b.value for c in grid.choices for b in c.bindings if b.value is not None]
    for binding in {b for c in grid.choices for b in c.bindings}:
        if has_other_names(binding):
            what, line = "another name of the same assignment", binding.line
            raise refuse("tile_shared", launch.call, also=[binding.node], tile=binding.name, what=what, line=line)
        for node in reads_of(module, (binding,), launch.function):
            call = _launch_around(module, node)
            if call is not None and (call is launch.call or _same_kernel(launch, call)):
                continue
            statement = statement_of(module.source, node)
            if isinstance(statement, ast.Assert) or any(within(module.source, node, place) for place in inside):
                continue
            what = f"the grid of {_target(call)}" if call is not None else f"`{_first_line(module, statement)}`"
            raise refuse("tile_shared", launch.call, also=[node], tile=ast.unparse(node), what=what, line=node.lineno)


def _first_line(module: Module, statement: ast.stmt) -> str:
    return module.source.segment(statement).splitlines()[0].strip()


def require_free_count(module: Module, launch: Launch, param: str, counts: tuple[Count, ...]) -> None:
    """The number of tiles may change: it picks no dtype, sizes no other kernel's grid, and no result follows from it.

    A launcher that divides by it, loops over it, branches on it, returns it or hands it on would do otherwise with
    another tile. Raises Refuse: dtype_depends_on_tiles, tile_shared.
    """
    own = [c.node for c in read_grid(module, launch).choices] + list(count_nodes(counts))
    for count in counts:
        for use in tile_count_uses(module, launch, param, count):
            if use.kind == "dtype":
                raise refuse("dtype_depends_on_tiles", use.node, also=[launch.call])
            if use.kind in ("grid", "assert") or any(within(module.source, use.node, d) for d in own):
                continue
            call = _launch_around(module, use.node) if use.kind == "other_grid" else _launch_of(module, use.node)
            if call is not None and _same_kernel(launch, call):
                continue
            if use.kind == "other_grid" and call is None:
                continue
            if use.kind == "scratch" or (use.kind == "derived" and _sets_names(module, use.node)):
                continue
            what = "the grid of another kernel" if use.kind == "other_grid" else f"{use.what}: its number of tiles"
            raise refuse("tile_shared", use.node, also=[launch.call], tile=param, what=what, line=use.line)


def _launch_of(module: Module, node: ast.AST) -> ast.Call | None:
    """The launch among whose arguments a node stands, whatever it is computed to there."""
    child, parent = node, module.source.parents.get(node)
    while parent is not None and not isinstance(child, ast.stmt):
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Subscript) and child is not parent.func:
            return parent
        child, parent = parent, module.source.parents.get(parent)
    return None


def _sets_names(module: Module, node: ast.AST) -> bool:
    """True where the statement around sets plain names only: what reads those is looked at as well."""
    statement = statement_of(module.source, node)
    if isinstance(statement, ast.AnnAssign):
        return isinstance(statement.target, ast.Name)
    if not isinstance(statement, ast.Assign):
        return False
    names = [e for t in statement.targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return all(isinstance(name, ast.Name) for name in names)


def require_launchers_tile(binding: TileBinding, launch: Launch) -> None:
    """Raises Refuse(tile_belongs_to_autotuner, tile_from_heuristic) where a decorator chooses the tile."""
    code = {"autotune": "tile_belongs_to_autotuner", "heuristic": "tile_from_heuristic"}.get(binding.kind)
    if code is not None:
        raise refuse(code, binding.decorator, also=[launch.call], tile=binding.param)


def require_own_tile(binding: TileBinding, launch: Launch) -> None:
    """Raises Refuse(tile_shared) where the launching function reads the tile for anything else."""
    for source in binding.sources:
        if has_other_names(source):
            what = "another name of the same assignment"
            raise refuse(
                "tile_shared", source.node, also=[launch.call], tile=binding.param, what=what, line=source.line
            )
    for use in binding.uses:
        if use.kind == "other":
            raise refuse("tile_shared", use.node, also=[launch.call], tile=binding.param, what=use.what, line=use.line)


def count_nodes(counts: tuple[Count, ...]) -> tuple[ast.expr, ...]:
    """The divisions of several counts."""
    return tuple(c.count_node for c in counts)


def _choice(module: Module, launch: Launch, param: str | None) -> tuple[object, ...]:
    options = tuple(sorted((name, _valued(module, keyword.value)) for name, keyword in launch.options.items()))
    if param is None:
        return (options, tuple(ast.dump(s) for s in launch.splats))
    binding = trace_tile(module, launch, param)
    argument = None if binding.argument is None else _valued(module, binding.argument)
    values = tuple(sorted(ast.dump(b.value) if b.value is not None else b.kind for b in binding.sources))
    container = None if binding.container is None else ast.dump(binding.container)
    return (binding.kind, argument, values, container, options)


def _valued(module: Module, node: ast.expr) -> str:
    return repr(identity(module, node)) if isinstance(node, ast.Constant) else ast.dump(node)


def _launch_around(module: Module, node: ast.AST) -> ast.Call | None:
    """The launch in whose grid a node stands directly."""
    child, parent = node, module.source.parents.get(node)
    while parent is not None and not isinstance(child, ast.stmt):
        if (
            isinstance(parent, ast.Call)
            and isinstance(parent.func, ast.Subscript)
            and within(module.source, node, parent.func)
        ):
            return parent
        child, parent = parent, module.source.parents.get(parent)
    return None


def _same_kernel(launch: Launch, call: ast.Call) -> bool:
    return _target(call) == _target(launch.call)


def _target(call: ast.Call) -> str:
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Subscript | ast.Attribute) else ""
