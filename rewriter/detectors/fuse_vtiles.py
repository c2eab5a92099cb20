"""fuse_vtiles. Used: a program that holds a whole row, reduces it and writes it back, or, where rows are all that it
loads, writes what it found: a dot product, the largest, their places. Symptom: a grid axis that walks
tiles, each of which repeats a reduction, a scan or a product that the tile has no part in.

Exponentials alone that repeat are too cheap to list, and so is an axis to which every launch gives one tile.
"""

from __future__ import annotations

import ast
from typing import TypeGuard

from ..analysis.axes import Axis
from ..analysis.events import Work
from ..conditions.fusable_axis import tile_parameter
from ..conditions.redundant_work import redundant_work
from .base import Detector, Seen
from .host import is_one_program, is_single_tile, spans_dimension
from .persistent_grid import persistent_loops, shared_rows
from .trace import sources_of, stores
from .view import KernelView

_CHEAP = frozenset({"exp", "exp2", "log", "log2", "sqrt", "rsqrt", "divide", "sigmoid", "fast_expf", "fdiv", "tanh"})


def walked_axes(view: KernelView) -> list[Axis]:
    """Axes that walk tiles of a constexpr size, more than one of them at some launch."""
    return [
        a for a in view.facts.tiled_axes if tile_parameter(view.facts, a) is not None and not is_single_tile(view, a)
    ]


def repeated(view: KernelView, axis: Axis) -> list[Work]:
    """What every tile of the axis repeats and is worth sharing."""
    return [w for w in redundant_work(view.facts, axis) if w.operation not in _CHEAP]


def _opportunities(view: KernelView) -> list[Seen]:
    found = []
    for axis in walked_axes(view):
        work = repeated(view, axis)
        if work:
            kinds = ", ".join(sorted({w.operation for w in work}))
            found.append(
                Seen(
                    work[0].line,
                    f"every tile along {view.facts.axis_name(axis)} repeats {len(work)} operations on blocks ({kinds})",
                )
            )
    return found


def _uses(view: KernelView) -> list[Seen]:
    """A stored row depends on a reduction over its own whole length, or the launcher leaves an axis one tile."""
    whole = [a for a in view.facts.tiled_axes if tile_parameter(view.facts, a) is not None and is_single_tile(view, a)]
    kept = [
        Seen(
            w[0].line, f"{view.facts.axis_name(a)} is always one tile, so that what does not depend on it is done once"
        )
        for a in whole
        if (w := repeated(view, a))
    ]
    return kept or _rows(view) or _statistics(view)


def _rows(view: KernelView) -> list[Seen]:
    if is_one_program(view):
        return []  # A schedule or a table made by one program: there are no tiles that it could have been cut into.
    if any(_is_contiguous(view, axis) or repeated(view, axis) for axis in walked_axes(view)):
        return []
    rounds = [*persistent_loops(view), *shared_rows(view)]
    reductions = {n: view.value(_operand(n)) for n in view.own.called("sum", "max", "min")}
    found = []
    for store, value in stores(view):
        pointer = view.value(store.args[0]) if store.args else None
        if pointer is None or not pointer.dims:
            continue
        whole = {
            d.size
            for d in pointer.dims
            if not any(not is_single_tile(view, a) for a in d.lanes)
            and d.size not in (None, "1")
            and spans_dimension(view, str(d.size))
        }
        for node in sources_of(view, value):
            if not isinstance(node, ast.Call):
                continue
            given = reductions.get(node)
            if (
                given is not None
                and given.dims
                and all(loop in rounds for loop in view.flow.loops_around(node))
                and any(d.size in whole for d in given.dims)
            ):
                found.append(Seen(node.lineno, "a program reduces a whole row and writes it back"))
    return found


def _statistics(view: KernelView) -> list[Seen]:
    """Every block that is loaded is of whole rows, and a reduction of them is stored."""
    if is_one_program(view) or view.own.called("dot", "dot_scaled"):
        return []
    blocks = [a.pointer.dims for a in view.facts.loads if a.pointer.dims]
    if not any(a.pointer.uniform | a.pointer.lanes for a in view.facts.loads if a.pointer.dims):
        return []  # every program reads the same: a table that all of them start from
    rows = [{str(d.size) for d in dims if not any(not is_single_tile(view, a) for a in d.lanes)} for dims in blocks]
    whole = {s for s in frozenset.intersection(*map(frozenset, rows)) if spans_dimension(view, s)} if rows else set()
    whole = {s for s in whole if s in view.kernel.parameter_names}
    found = []
    for _, value in stores(view) if whole else ():
        for node in sources_of(view, value):
            if isinstance(node, ast.Call) and view.operation(node) in ("sum", "max", "min", "argmax", "argmin"):
                given = view.value(_operand(node))
                if given is not None and any(str(d.size) in whole for d in given.dims or ()):
                    if not any(not view.is_unrolled(loop) for loop in view.flow.loops_around(node) if _is_loop(loop)):
                        found.append(Seen(node.lineno, "a program reduces whole rows and writes what it found"))
    return found


def _is_loop(node: ast.stmt) -> TypeGuard[ast.For | ast.While]:
    return isinstance(node, ast.For | ast.While)


def _operand(node: ast.Call) -> ast.expr | None:
    if node.args:
        return node.args[0]
    return node.func.value if isinstance(node.func, ast.Attribute) else None


def _is_contiguous(view: KernelView, axis: Axis) -> bool:
    """True where some store's neighbouring elements lie along the axis: it divides rows."""
    for access in view.facts.stores:
        poly = access.pointer.poly
        if poly is not None and any(len(m) == 1 and m[0].kind == "lane" and axis in m[0].axes for m, _ in poly.terms):
            if len(access.pointer.dims or ()) > 1 or not _has_rows(view):
                return True
    return False


def _has_rows(view: KernelView) -> bool:
    """True where some store writes a block of more than one dimension."""
    return any(len(a.pointer.dims or ()) > 1 for a in view.facts.stores)


DETECTOR = Detector("fuse_vtiles", _uses, _opportunities)
