"""parallelise_loop. Used: a grid axis that stands for a loop: its programs past a count known at run time do nothing.

The whole of the body stands under a guard on the bare program id. A guard on a tile's first element is a tail, other
than in a kernel that only moves numbers, where it stands for the loop over a row's blocks; a guard on the total number
of rows is a grid that was rounded up. Neither is counted.
"""

from __future__ import annotations

import ast

from .base import Detector, Seen
from .trace import sources_of
from .view import KernelView

_MOVES = frozenset("program_id num_programs arange load store to cast cdiv minimum where multiple_of".split())


def _uses(view: KernelView) -> list[Seen]:
    found = []
    for node in view.kernel.node.body:
        if (
            isinstance(node, ast.If)
            and isinstance(node.test, ast.Compare)
            and len(node.test.ops) == 1
            and not node.orelse
        ):
            index, limit = node.test.left, node.test.comparators[0]
            operator = node.test.ops[0]
            if isinstance(operator, ast.Gt | ast.LtE):
                index, limit = limit, index
            kept = isinstance(operator, ast.Lt | ast.Gt) and node is view.kernel.node.body[-1]
            left = isinstance(operator, ast.GtE | ast.LtE) and any(isinstance(s, ast.Return) for s in node.body)
            axis = _is_bare_axis(view, index) or (_only_moves(view) and _is_tile_of_axis(view, index))
            if (kept or left) and axis and _is_loaded(view, limit):
                found.append(Seen(node.lineno, "a grid axis stands for a loop: programs past the count do nothing"))
    return found


def _is_bare_axis(view: KernelView, node: ast.expr) -> bool:
    value = view.value(node)
    atom = value.poly.sole_atom() if value is not None and value.poly is not None else None
    return atom is not None and atom.kind == "axis" and not atom.axis.steps


def _is_tile_of_axis(view: KernelView, node: ast.expr) -> bool:
    """A program id times a block's size."""
    value = view.value(node)
    if value is None or value.poly is None or len(value.poly.terms) != 1:
        return False
    ((atoms, _),) = value.poly.terms
    axes = [a for a in atoms if a.kind == "axis"]
    others = [a for a in atoms if a.kind != "axis"]
    return len(axes) == 1 and not axes[0].axis.steps and all(a.kind == "sym" for a in others)


def _only_moves(view: KernelView) -> bool:
    """Loads, stores and indices, blocks of them: a table that is spread or gathered."""
    blocks = any(access.pointer.dims for access in view.facts.loads)
    return blocks and all(name in _MOVES for body in view.bodies for _, name in body.calls)


def _is_loaded(view: KernelView, node: ast.expr) -> bool:
    """The count is read from memory for this program: by another axis."""
    for load in (n for n in sources_of(view, node) if isinstance(n, ast.Call) and view.operation(n) == "load"):
        pointer = view.value(load.args[0]) if load.args else None
        if pointer is not None and pointer.uniform:
            return True
    return False


DETECTOR = Detector("parallelise_loop", _uses)
