"""parallelise_loop. Used: a grid axis that stands for a loop: its programs past a count known at run time do nothing.

The whole of the body stands under a guard on the bare program id. A guard on a tile's first element is a tail, and a
guard on the total number of rows is a grid that was rounded up; neither is counted.
"""

from __future__ import annotations

import ast

from .base import Detector, Seen
from .trace import sources_of
from .view import KernelView


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
            if (kept or left) and _is_bare_axis(view, index) and _is_loaded(view, limit):
                found.append(Seen(node.lineno, "a grid axis stands for a loop: programs past the count do nothing"))
    return found


def _is_bare_axis(view: KernelView, node: ast.expr) -> bool:
    value = view.value(node)
    atom = value.poly.sole_atom() if value is not None and value.poly is not None else None
    return atom is not None and atom.kind == "axis" and not atom.axis.steps


def _is_loaded(view: KernelView, node: ast.expr) -> bool:
    """The count is read from memory for this program: by another axis."""
    for load in (n for n in sources_of(view, node) if isinstance(n, ast.Call) and view.operation(n) == "load"):
        pointer = view.value(load.args[0]) if load.args else None
        if pointer is not None and pointer.uniform:
            return True
    return False


DETECTOR = Detector("parallelise_loop", _uses)
