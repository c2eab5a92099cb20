"""set_tile: make a launcher use another tile.

rewrite:  BV = min(32, triton.next_power_of_2(V))  ->  BV = triton.next_power_of_2(V)

Numerics
    The host edit alone changes no value: the grid follows the tile. What a wider tile does to reductions inside the
    kernel is for the primitive that asks for it to say (`reassociated`, since lanes and warps along the tile change).
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Sequence

from ..conditions.launch_sites import (
    counted_axis,
    require_free_count,
    require_launchers_tile,
    require_own_tile,
    require_same_choice,
)
from ..kernel.changes import Changes, Spot, merged
from ..kernel.count import Count, divisions_by, outermost
from ..kernel.definition import Module
from ..kernel.edits import Edit
from ..kernel.idioms import ceiling_text, identity
from ..kernel.launch import Launch, launches_of
from ..kernel.scope import Binding, bindings_in, names_read, reaching, statement_of, within
from ..kernel.tile import TileBinding, trace_tile
from ..kernel.tile_text import NewTile, Outcome, TileChoice, available, widen
from ..reasons import Refuse, refuse


def set_tile(
    module: Module,
    launches: Sequence[Launch],
    param: str,
    tile: TileChoice,
    *,
    axis: int | None = None,
    minimum: int = 1,
) -> list[Edit]:
    """Edits that give every launch the new tile for the constexpr `param`.

    `tile`: "whole" (next power of two of the dimension), a number (a cap on that), or "divisor" (the largest power of
    two that divides the dimension). `axis`: the grid axis that must count the tiles; any, where None. `minimum`: no
    tile below it.

    Raises Refuse: several_launch_sites, unreadable_launch, grid_not_tied_to_tile, single_tile, tile_shared,
    tile_belongs_to_autotuner, tile_from_heuristic, tile_through_kwargs, tile_unknown, tile_must_divide,
    dtype_depends_on_tiles.
    """
    return tile_changes(module, launches, param, tile, axis=axis, minimum=minimum).edits(module)


def tile_changes(
    module: Module,
    launches: Sequence[Launch],
    param: str,
    tile: TileChoice,
    *,
    axis: int | None = None,
    minimum: int = 1,
) -> Changes:
    """The changes behind `set_tile`, to be merged with others of the same launcher."""
    require_same_choice(module, launches, param)
    return merged(_one_launch(module, launch, launches, param, tile, axis, minimum) for launch in launches)


def _one_launch(
    module: Module,
    launch: Launch,
    launches: Sequence[Launch],
    param: str,
    choice: TileChoice,
    axis: int | None,
    minimum: int,
) -> Changes:
    binding = trace_tile(module, launch, param)
    require_launchers_tile(binding, launch)
    _, counts = counted_axis(module, launch, param, axis)
    require_free_count(module, launch, param, counts)
    require_own_tile(binding, launch)
    count = counts[0]
    floor = next((c for c in counts if c.floor_division), None)
    if floor is not None and (choice == "whole" or not floor.exact):
        # Also where nothing says that the tiles leave no rest: another tile would leave another one.
        at = floor.divisibility or floor.count_node
        raise refuse("tile_must_divide", at, also=[launch.call], dimension=_text(module, count.dimension), tile=param)
    new = NewTile(count.dimension, choice, minimum, must_divide=floor is not None)
    changes = Changes()
    outcome = _apply(module, launch, binding, counts, new, changes)
    if outcome in ("already", "kept") and not changes.spans:
        raise refuse("single_tile", launch.call, axis=f"{param} of {launch.kernel.name}")
    if outcome == "unknown":
        raise _unknown(launch, binding)
    return changes


def _apply(
    module: Module, launch: Launch, binding: TileBinding, counts: tuple[Count, ...], new: NewTile, changes: Changes
) -> Outcome:
    match binding.kind:
        case "literal" | "expression" | "constant":
            return _at_uses(module, launch, binding, counts, new, changes)
        case "name" | "call":
            return _at_definitions(module, binding, new, changes)
        case "default" | "parameter":
            return _at_parameter(module, launch, binding, new, changes)
        case "dict":
            return _in_dict(module, launch, binding, counts, new, changes)
        case "param_default" if all(c.from_meta for c in counts) and available(module, new, launch.statement):
            changes.add_keyword(launch.call, binding.param, new.text(module, launch.call))
            return "changed"
    return "unknown"


def _at_uses(
    module: Module, launch: Launch, binding: TileBinding, counts: tuple[Count, ...], new: NewTile, changes: Changes
) -> Outcome:
    """The tile is spelled out at the launch and in the grid: change both."""
    argument = binding.argument
    assert argument is not None
    if binding.kind == "constant":
        for node in names_read(launch.kernel.node):
            if isinstance(argument, ast.Name) and node.id == argument.id:
                raise refuse(
                    "tile_shared",
                    node,
                    also=[launch.call],
                    tile=binding.param,
                    what="the kernel itself",
                    line=node.lineno,
                )
    outcome = widen(module, argument, new, changes)
    if outcome == "changed":
        _in_counts(module, launch, counts, argument, new, changes)
    return outcome


def _in_counts(
    module: Module, launch: Launch, counts: tuple[Count, ...], tile: ast.expr, new: NewTile, changes: Changes
) -> None:
    """Every `cdiv(D, tile)` of the launching function, the grid's included.

    A grid that reads the tile from its argument follows by itself; a buffer with a slot a tile beside it does not.
    """
    spelled = {c: tile if c.from_meta else c.tile for c in counts}
    divisions = {d.node: d for c, t in spelled.items() for d in divisions_by(module, launch, t, c.dimension)}
    for division in divisions.values():
        inner = Changes()
        if not available(module, new, division.node) or widen(module, division.tile, new, inner) != "changed":
            raise refuse("tile_unknown", division.node, also=[launch.call], tile=ast.unparse(tile))
        if isinstance(division.node, ast.Call) and division.node.args[-1] is division.tile:
            changes.spans += inner.spans
        elif division.floor:
            changes.replace(module, division.tile, f"({new.text(module, division.node)})")
        else:
            size = _text(module, division.dimension)
            changes.replace(
                module, division.node, ceiling_text(module, size, new.text(module, division.node), division.node)
            )
    if not isinstance(tile, ast.Constant):
        _require_all_follow(module, launch, tile, changes)


def _require_all_follow(module: Module, launch: Launch, tile: ast.expr, changes: Changes) -> None:
    """Whatever else reads the old tile, in an expression or by a name for it, would keep the old value.

    Raises Refuse(tile_shared).
    """
    source = module.source
    spans = [(edit.start, edit.end) for edit in changes.spans]
    pending: list[Hashable] = [identity(module, tile)]
    seen: set[Hashable] = set()
    own = [other.call for other in launches_of(module, launch.kernel)]
    while pending:
        key = pending.pop()
        seen.add(key)
        for node in ast.walk(outermost(module, launch.function)):
            if not isinstance(node, ast.Name | ast.Subscript | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            start, end = source.span(node)
            if any(a <= start and end <= b for a, b in spans) or any(within(source, node, c) for c in own):
                continue
            if identity(module, node) != key:
                continue
            statement = statement_of(source, node)
            if isinstance(statement, ast.Assign) and statement.value is node and len(statement.targets) == 1:
                target = statement.targets[0]
                if isinstance(target, ast.Name):
                    named = [n for n in names_read(outermost(module, launch.function)) if n.id == target.id]
                    pending += [k for k in {identity(module, n) for n in named} if k not in seen and k != key]
                    continue
            if isinstance(statement, ast.Assert):
                continue
            raise refuse(
                "tile_shared",
                node,
                also=[launch.call],
                tile=ast.unparse(tile),
                what=f"`{ast.unparse(statement)}`",
                line=node.lineno,
            )


def _at_definitions(module: Module, binding: TileBinding, new: NewTile, changes: Changes) -> Outcome:
    """The tile has a name: change what is assigned to it, or assign again right after."""
    outcomes: list[Outcome] = []
    for source in binding.sources:
        if source.kind == "parameter":
            outcomes.append("kept")
            continue
        inner = Changes()
        outcome: Outcome = "unknown"
        if source.kind == "assign" and source.value is not None:
            outcome = widen(module, source.value, new, inner)
        if outcome == "unknown":
            inner = Changes()
            spot = _spot(module, source, binding, new)
            if spot is None:
                return "unknown"
            inner.add_line(spot, f"{source.name} = {new.text(module, source.node)}")
            outcome = "changed"
        changes.spans += inner.spans
        for at, lines in inner.lines.items():
            for line in lines:
                changes.add_line(at, line)
        outcomes.append(outcome)
    return "changed" if "changed" in outcomes else outcomes[0]


def _at_parameter(module: Module, launch: Launch, binding: TileBinding, new: NewTile, changes: Changes) -> Outcome:
    """The launcher's own argument: change its default where no caller passes it, else assign before its first use."""
    source = binding.sources[0]
    function = launch.function
    if function is None:
        return "unknown"
    passed = _passed_by_callers(module, function.name, source)
    if passed is None or (source.value is None and not passed):
        return "unknown"
    for argument in passed:
        if not isinstance(argument, ast.Constant):
            raise refuse(
                "tile_shared",
                argument,
                also=[launch.call],
                tile=binding.param,
                what="a caller of the launcher",
                line=argument.lineno,
            )
    spot = _before_first_use(module, function.body, binding)
    if spot is None or not available(module, new, spot.statement):
        return "unknown"
    changes.add_line(spot, f"{source.name} = {new.text(module, spot.statement)}")
    return "changed"


def _passed_by_callers(module: Module, function: str, parameter: Binding) -> list[ast.expr] | None:
    """What callers in the file pass for the launcher's parameter; None where a call cannot be read."""
    definitions = module.names.functions.get(function, [])
    if len(definitions) != 1:
        return None
    positional = [a.arg for a in (*definitions[0].args.posonlyargs, *definitions[0].args.args)]
    found: list[ast.expr] = []
    for node in ast.walk(module.source.tree):
        if isinstance(node, ast.Name) and node.id == function and isinstance(node.ctx, ast.Load):
            call = module.source.parents[node]
            if not (isinstance(call, ast.Call) and call.func is node):
                return None
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function):
            continue
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return None
        index = positional.index(parameter.name) if parameter.name in positional else len(node.args)
        found += [k.value for k in node.keywords if k.arg == parameter.name]
        found += [node.args[index]] if index < len(node.args) else []
    return found


def _in_dict(
    module: Module, launch: Launch, binding: TileBinding, counts: tuple[Count, ...], new: NewTile, changes: Changes
) -> Outcome:
    """The tile is an entry of a dict: set the entry again after the dict is made, or in the `**` at the launch."""
    container, key = binding.container, binding.key
    assert container is not None and key is not None
    local = [b for b in binding.sources if not _at_module_level(module, b)]
    if isinstance(container, ast.Name) and local:
        if len(local) != len(binding.sources) or any(b.kind not in ("assign", "unpack") for b in local):
            raise refuse("tile_through_kwargs", launch.call, tile=binding.param, name=container.id)
        for source in local:
            spot = _spot(module, source, binding, new)
            if spot is None:
                return "unknown"
            changes.set_entry(spot, container.id, key, new.text(module, source.node))
        return "changed"
    if not available(module, new, launch.call):
        return "unknown"
    if binding.through_splat:
        operand = next((s for s in launch.splats if s is container), None)
        if operand is None or not isinstance(container, ast.Name | ast.Subscript | ast.Attribute):
            raise refuse("tile_through_kwargs", launch.call, tile=binding.param, name=_text(module, container))
        changes.set_inline(operand, key, new.text(module, launch.call))
    else:
        assert binding.argument is not None
        changes.replace(module, binding.argument, new.text(module, launch.call))
    _in_counts(module, launch, counts, binding.entry(launch.call), new, changes)
    return "changed"


def _spot(module: Module, source: Binding, binding: TileBinding, new: NewTile) -> Spot | None:
    """Where to assign again: right after the assignment if the dimension is known there, else before the first use."""
    statement = source.statement
    if statement is None:
        return None
    if _available_after(module, new, statement):
        return Spot(statement)
    block = _block(module, statement)
    spot = _before_first_use(module, block[block.index(statement) + 1 :], binding)
    return spot if spot is not None and available(module, new, spot.statement) else None


def _available_after(module: Module, new: NewTile, statement: ast.stmt) -> bool:
    """As `available`, for the place right behind a statement, which may itself bind the dimension."""
    for name in (n for n in ast.walk(new.dimension) if isinstance(n, ast.Name)):
        here = bindings_in([statement], name.id) or reaching(module.source, name.id, statement)
        if here != reaching(module.source, name.id, name):
            return False
    return True


def _before_first_use(module: Module, block: list[ast.stmt], binding: TileBinding) -> Spot | None:
    for statement in block:
        if any(use.node is node for node in ast.walk(statement) for use in binding.uses):
            return Spot(statement, before=True)
    return None


def _block(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    parent = module.source.parents[statement]
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return [statement]


def _at_module_level(module: Module, binding: Binding) -> bool:
    return binding.statement is not None and binding.statement in module.source.tree.body


def _unknown(launch: Launch, binding: TileBinding) -> Refuse:
    also: list[ast.AST] = [b.node for b in binding.sources]
    return refuse("tile_unknown", launch.call, also=also, tile=binding.param)


def _text(module: Module, node: ast.expr) -> str:
    return " ".join(module.source.segment(node).split())
