"""partials_summed: per-tile slots are summed over the tiles by the launcher, and read in no other way.

The buffer has one place a tile along one of its dimensions; the launcher must sum over just that dimension, or over
all. A buffer with a fixed number of places would keep what was never written once there are fewer tiles.
"""

from __future__ import annotations

import ast

from skel.store.schema import Refusal

from ..analysis.stores import Classified, StoreClass
from ..kernel.count import Count, reads_of, tile_count_uses
from ..kernel.idioms import ceiling_division, follow, identity
from ..kernel.launch import Launch
from ..kernel.scope import Function, has_other_names, reaching, statement_of, within
from ..reasons import refusal, refuse
from .context import FusionContext

ALLOCATORS = frozenset({"empty", "zeros", "ones", "full", "new_empty", "new_zeros", "new_ones", "new_full"})


def check_partials_summed(context: FusionContext) -> list[Refusal]:
    """Refuses `partial_not_summed` for a slot store whose buffer the launching function does not sum over the tiles."""
    found: list[Refusal] = []
    for classified in context.lanes.stores:
        if classified.store_class is not StoreClass.SLOT:
            continue
        if not _cut_at_dimension(context):
            found.append(refusal("nonlinear_partial", classified.access.line, axis=context.name))
        if classified.access.kind != "store":
            continue
        for launch in context.launches:
            if not _summed(context, classified, launch):
                name = ", ".join(sorted(classified.access.pointer.bases))
                found.append(
                    refusal(
                        "partial_not_summed", classified.access.line, also=[launch.line], axis=context.name, name=name
                    )
                )
    return found


def _cut_at_dimension(context: FusionContext) -> bool:
    """True where every mask along the axis cuts at the dimension that the grid covers.

    A partial that counts lanes past it counts those of its tile, and a wider tile has others.
    """
    masks = [v for events in context.facts.runs for v in events.values.values()]
    limits = {bound.limit for value in masks for bound in value.bounds if bound.axis == context.axis}
    limits |= {limit for access in context.facts.accesses for axis, limit in access.covered if axis == context.axis}
    return all(context.is_dimension(limit, launch) for limit in limits for launch in context.launches)


def _summed(context: FusionContext, classified: Classified, launch: Launch) -> bool:
    arguments = [launch.arguments.get(base) for base in classified.access.pointer.bases]
    if launch.function is None or not arguments:
        return False
    return all(a is not None and _buffer_summed(context, a, launch, launch.function) for a in arguments)


def _buffer_summed(context: FusionContext, buffer: ast.expr, launch: Launch, function: Function) -> bool:
    """Every read of the buffer is a launch's, a sum over the tiles behind it, or sets it; and there is a sum.

    Another name, an entry of a table, its length or shape would show how many tiles there were.
    """
    place = _tile_dimension(context, buffer, launch)
    if place is None or not isinstance(buffer, ast.Name):
        return False
    source = context.module.source
    bindings = reaching(source, buffer.id, buffer)
    if any(map(has_other_names, bindings)):
        return False
    sums = 0
    for node in reads_of(context.module, bindings, function):
        if any(within(source, node, one.call) for one in context.launches):
            continue
        parent = source.parents[node]
        call = source.parents[parent] if isinstance(parent, ast.Attribute) else parent
        statement = statement_of(source, node)
        if isinstance(call, ast.Call) and _is_sum(call, node, *place) and node.lineno > launch.line:
            sums += 1
        elif not isinstance(statement, ast.Assert) and not _only_set(parent, statement):
            return False
    return sums > 0


def _only_set(parent: ast.AST, statement: ast.stmt) -> bool:
    """True for the statement `buffer.zero_()`."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and statement.value.func is parent
        and isinstance(parent, ast.Attribute)
        and parent.attr in ("zero_", "fill_")
    )


def require_buffers_summed(context: FusionContext) -> None:
    """Before the tile changes: a buffer whose size counts the tiles must be one of summed slots.

    Any other would have another shape afterwards. Raises Refuse(partial_not_summed).
    """
    module = context.module
    slots = {
        base
        for c in context.lanes.stores
        if c.store_class is StoreClass.SLOT and c.access.kind == "store"
        for base in c.access.pointer.bases
    }
    for launch in context.launches:
        buffers = [follow(module, a)[0] for name, a in launch.arguments.items() if name in slots]
        counts = context.counts[launch]
        for use in (u for count in counts for u in tile_count_uses(module, launch, context.tile, count)):
            if use.kind == "scratch" and not any(within(module.source, use.node, b) for b in buffers):
                name = ast.unparse(statement_of(module.source, use.node)).splitlines()[0]
                raise refuse("partial_not_summed", use.node, also=[launch.call], axis=context.name, name=f"`{name}`")


def _tile_dimension(context: FusionContext, buffer: ast.expr, launch: Launch) -> tuple[int, int] | None:
    """(dimension that counts tiles, rank) of the buffer's allocation in the launching function."""
    value = follow(context.module, buffer)[0]
    if not isinstance(value, ast.Call):
        return None
    name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
    if name not in ALLOCATORS or not value.args:
        return None
    first = value.args[0]
    sizes = list(first.elts) if isinstance(first, ast.Tuple | ast.List) else list(value.args)
    found = [i for i, size in enumerate(sizes) if any(_is_count(context, size, c) for c in context.counts[launch])]
    return (found[0], len(sizes)) if len(found) == 1 else None


def _is_count(context: FusionContext, size: ast.expr, count: Count) -> bool:
    """True for the number of tiles: the same division, or a name for it."""
    module = context.module
    if isinstance(size, ast.Name):
        nodes = {id(b.node) for b in reaching(module.source, size.id, size)}
        if nodes and nodes <= {id(b.node) for b in count.bindings}:
            return True
    division = ceiling_division(module, follow(module, size)[0])
    return (
        division is not None
        and identity(module, division.dimension) == identity(module, count.dimension)
        and identity(module, division.tile) == _tile_identity(context, count)
    )


def _tile_identity(context: FusionContext, count: Count) -> object:
    """The tile as the launcher spells it, also where the grid reads it from its argument."""
    if not count.from_meta:
        return identity(context.module, count.tile)
    argument = next((c.arguments.get(context.tile) for c, counts in context.counts.items() if count in counts), None)
    return None if argument is None else identity(context.module, argument)


def _is_sum(call: ast.Call, buffer: ast.expr, dimension: int, rank: int) -> bool:
    """`buffer.sum(d)` or `torch.sum(buffer, d)`, over the dimension or over all of them."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "sum"):
        return False
    method = call.func.value is buffer
    if not method and not (call.args and call.args[0] is buffer):
        return False
    rest = list(call.args) if method else list(call.args[1:])
    given = rest[0] if rest else next((k.value for k in call.keywords if k.arg in ("dim", "axis")), None)
    if given is None:
        return True
    dims = list(given.elts) if isinstance(given, ast.Tuple | ast.List) else [given]
    numbers = [_number(d) for d in dims]
    return None not in numbers and dimension in {n % rank for n in numbers if n is not None}


def _number(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None
