"""reorder_grid. Used: the index of a tile is decoded from one program id with `//` and `%`. Symptom: a product of
run-time sizes on grid axis 1 or 2, which end at 65,535.

Decoding only batch and head leaves no tile index and is not counted.
"""

from __future__ import annotations

import ast

from ..analysis.axes import Axis
from ..kernel.count import tile_count
from .base import Detector, Seen
from .host import grid_dims, grid_meta
from .trace import sources_of
from .view import KernelView


def _uses(view: KernelView) -> list[Seen]:
    found = [
        Seen(view.kernel.node.lineno, f"decodes the tile index {view.facts.axis_name(a)} from one program id")
        for a in view.facts.tiled_axes
        if a.steps and _counts_tiles(view, a)
    ]
    return found or _by_pattern(view)


def _counts_tiles(view: KernelView, axis: Axis) -> bool:
    """True unless the launches show that the axis counts something else than tiles, such as heads of a group."""
    tiles = view.facts.tile_sizes(axis)
    if not view.launches or any(t in s[1] for s in axis.steps for t in tiles if "cdiv" in s[1]):
        return True
    for launch in view.launches:
        for dim in grid_dims(view, launch):
            if any(
                tile_count(view.module, launch, dim, t, grid_meta(view, launch)) is not None
                for t in tiles
                if t.isidentifier()
            ):
                return True
    return not any(grid_dims(view, launch) for launch in view.launches)


def _by_pattern(view: KernelView) -> list[Seen]:
    """Offsets `x * TILE` whose x comes out of a program id, or a work id, by `%` or `//`; swizzles end here."""
    found = []
    sizes = {ast.dump(c.args[-1]) for c in view.own.called("arange") if c.args} | _block_sizes(view)
    ids = set(view.own.called("program_id")) | _work_ids(view)
    if not ids:
        return []
    for node in view.own.nodes:
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
            continue
        for index, size in ((node.left, node.right), (node.right, node.left)):
            if ast.dump(size) not in sizes:
                continue
            value = view.value(index)
            if value is None or value.dims != ():
                continue
            back = sources_of(view, index)
            decoded = [
                n
                for n in back
                if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod | ast.FloorDiv) and _is_id(view, n.left, ids)
            ]
            if not view.is_block(node) and _decoded_in_helper(view, back, ids):
                found.append(Seen(node.lineno, "decodes a tile index from one program id, in a helper"))
            if decoded and any(_counts(view, n.right, sizes) for n in decoded) and not view.is_block(node):
                found.append(Seen(min(n.lineno for n in decoded), "decodes a tile index from one program id"))
    return found


def _block_sizes(view: KernelView) -> set[str]:
    """Dumps of the dimensions that descriptors give their blocks."""
    given = [k.value for c in view.own.called("make_tensor_descriptor") for k in c.keywords if k.arg == "block_shape"]
    given += [c.args[3] for c in view.own.called("make_tensor_descriptor") if len(c.args) > 3]
    return {ast.dump(n) for node in given if isinstance(node, ast.List | ast.Tuple) for n in node.elts}


def _decoded_in_helper(view: KernelView, back: frozenset[ast.AST], ids: set[ast.AST]) -> bool:
    """A helper is given an id and takes it apart with both `//` and `%`."""
    for call in back:
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            continue
        if not any(ids & sources_of(view, argument) for argument in call.args):
            continue
        for body in view.bodies[1:]:
            if body.kernel.name == call.func.id:
                kinds = {type(n.op) for n in body.nodes if isinstance(n, ast.BinOp)}
                if {ast.FloorDiv, ast.Mod} <= kinds:
                    return True
    return False


def _work_ids(view: KernelView) -> set[ast.AST]:
    """Loop variables that count work from the program id on."""
    return {
        n
        for loop in view.loops
        if isinstance(loop, ast.For)
        and isinstance(loop.iter, ast.Call)
        and loop.iter.args
        and (v := view.value(loop.iter.args[0])) is not None
        and v.uniform
        and isinstance(loop.target, ast.Name)
        for n in view.flow.reaching
        if (d := view.flow.reaching[n]).kind == "loop" and d.statement is loop
    }


def _is_id(view: KernelView, node: ast.expr, ids: set[ast.AST]) -> bool:
    return bool(ids & sources_of(view, node))


def _counts(view: KernelView, node: ast.expr, sizes: set[str]) -> bool:
    """True where a divisor is a number of tiles: something is divided by their size on the way, rounded up or down.

    `sizes` are the lengths of the kernel's ranges, dumped. Heads over heads of a group is no number of tiles.
    """
    return any(
        (isinstance(n, ast.Call) and view.operation(n) == "cdiv")
        or (isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv) and ast.dump(n.right) in sizes)
        for n in sources_of(view, node)
    )


def _opportunities(view: KernelView) -> list[Seen]:
    if _uses(view):
        return []
    found = []
    for launch in view.launches:
        for number, dim in enumerate(grid_dims(view, launch)[1:], start=1):
            if (
                isinstance(dim, ast.BinOp)
                and isinstance(dim.op, ast.Mult)
                and not any(isinstance(n, ast.Constant) for n in (dim.left, dim.right))
            ):
                found.append(
                    Seen(launch.line, f"grid axis {number} is a product of sizes, and ends at 65,535 programs")
                )
    return found


DETECTOR = Detector("reorder_grid", _uses, _opportunities)
