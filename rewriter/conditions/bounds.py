"""lanes_bounded: every access along the axis is cut at the dimension, or the tile is proved to divide it.

A wider tile has lanes past the dimension's end that the original never had. A mask `offset < V` cuts them; a branch
that a heuristic takes only where `V % BV == 0` does as well, since the heuristic follows the new tile.
"""

from __future__ import annotations

import ast

from skel.store.schema import Refusal

from ..analysis.events import Access, Condition
from ..analysis.stores import StoreClass
from ..kernel.autotune import heuristics_of
from ..kernel.launch import Launch
from ..reasons import refusal
from .context import FusionContext


def check_lanes_bounded(context: FusionContext) -> list[Refusal]:
    """Refuses `non_pow2_unmasked` at the first access that nothing bounds, with all such lines."""
    open_accesses = unbounded(context)
    if not open_accesses:
        return []
    first = open_accesses[0]
    dimension = ast.unparse(context.dimension)
    return [
        refusal(
            "non_pow2_unmasked", first.line, also=[a.line for a in open_accesses[1:]], axis=context.name, dim=dimension
        )
    ]


def unbounded(context: FusionContext) -> list[Access]:
    """Accesses along the lanes of the axis that neither a mask nor a proved division bounds, each line once."""
    found: dict[int, Access] = {}
    for access in context.facts.accesses:
        if context.axis in access.pointer.lanes and not all(
            _bounded(context, access, launch) for launch in context.launches
        ):
            found.setdefault(access.line, access)
    return list(found.values())


def idle_past_end(context: FusionContext) -> bool:
    """True where whole tiles past the dimension's end do nothing: a program may then walk into them.

    Every access that looks at the axis runs along its lanes under a mask; every store is such an access, or runs in
    the first tile only, or stores what all tiles store. A slot or an atomic of a tile that never was counts for more.
    """
    idle = (StoreClass.LANE, StoreClass.GUARDED, StoreClass.INVARIANT)
    if any(c.store_class not in idle for c in context.lanes.stores):
        return False
    if any(count.floor_division for counts in context.counts.values() for count in counts):
        # The launcher counts whole tiles only: the last one of the grid need not be the last of the dimension.
        return False
    return all(
        _masked(context, access, launch)
        for access in context.facts.accesses
        if access.pointer.depends_on(context.axis)
        for launch in context.launches
    )


def _masked(context: FusionContext, access: Access, launch: Launch) -> bool:
    return any(a == context.axis and context.is_dimension(limit, launch) for a, limit in access.covered)


def _bounded(context: FusionContext, access: Access, launch: Launch) -> bool:
    limits = [limit for axis, limit in access.covered if axis == context.axis]
    if any(context.is_dimension(limit, launch) for limit in limits):
        return True
    return any(c.holds and _says_even(context, c, launch) for c in access.conditions)


def _says_even(context: FusionContext, condition: Condition, launch: Launch) -> bool:
    """True where the branch is taken only if the tile divides the dimension, whatever the tile is."""
    test = condition.test
    if isinstance(test, ast.Name):
        for name, function in heuristics_of(context.kernel):
            if name == test.id and isinstance(function, ast.Lambda):
                return _heuristic_says_even(context, function, launch)
        argument = launch.arguments.get(test.id)
        return argument is not None and _host_says_even(context, argument, launch)
    pair = _remainder(test)
    return (
        pair is not None
        and _is_parameter(pair[1], context.tile)
        and isinstance(pair[0], ast.Name)
        and context.is_dimension(pair[0].id, launch)
    )


def _heuristic_says_even(context: FusionContext, function: ast.Lambda, launch: Launch) -> bool:
    """`lambda args: args["V"] % args["BV"] == 0`, alone or in an `and`."""
    argument = function.args.args[0].arg if function.args.args else ""
    for part in _conjuncts(function.body):
        pair = _remainder(part)
        if pair is None:
            continue
        names = [_item(side, argument) for side in pair]
        if names[1] == context.tile and names[0] is not None and context.is_dimension(names[0], launch):
            return True
    return False


def _host_says_even(context: FusionContext, argument: ast.expr, launch: Launch) -> bool:
    """`V % BV == 0` computed by the launcher from the very tile it passes."""
    from ..kernel.idioms import follow
    from .context import same_value

    tile = launch.arguments.get(context.tile)
    for part in _conjuncts(follow(context.module, argument)[0]):
        pair = _remainder(part)
        # A number would not follow the tile when it changes.
        if pair is None or tile is None or isinstance(pair[1], ast.Constant) or not isinstance(pair[1], ast.Name):
            continue
        if ast.dump(pair[1]) == ast.dump(tile) and any(
            same_value(context.module, pair[0], c.dimension) for c in context.counts[launch]
        ):
            return True
    return False


def _conjuncts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [p for v in node.values for p in _conjuncts(v)]
    return [node]


def _remainder(test: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """(a, b) of `a % b == 0`."""
    match test:
        case ast.Compare(
            left=ast.BinOp(left=a, op=ast.Mod(), right=b), ops=[ast.Eq()], comparators=[ast.Constant(value=0)]
        ):
            return a, b
    return None


def _item(node: ast.expr, argument: str) -> str | None:
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str() as key)) if name == argument:
            return key
    return None


def _is_parameter(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
