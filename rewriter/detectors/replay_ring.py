"""replay_ring. Used: a cursor is loaded, writes go to its slot of a ring, and a branch on it flushes the state."""

from __future__ import annotations

import ast

from .base import Detector, Seen
from .trace import sources_of, stores
from .view import KernelView


def _uses(view: KernelView) -> list[Seen]:
    written = stores(view)
    found = []
    for branch in (n for n in view.own.nodes if isinstance(n, ast.If)):
        inside = {n for s in branch.body for n in ast.walk(s)}
        if not any(store in inside for store, _ in written):
            continue
        cursors = _compared_loads(view, branch.test)
        for store, _ in written:
            if (
                store not in inside
                and store.args
                and cursors & _scalar_loads(view, store.args[0])
                and _is_masked_by(view, cursors)
            ):
                found.append(
                    Seen(
                        branch.lineno,
                        "flushes the state when the ring's cursor is at its end, and writes the ring at the cursor",
                    )
                )
    return found


def _compared_loads(view: KernelView, test: ast.expr) -> set[ast.AST]:
    """Loads that the test compares with something known at compile time: `write_pos == LENGTH - 1`."""
    found: set[ast.AST] = set()
    for node in sources_of(view, test):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        for side, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            names = [n for n in ast.walk(other) if isinstance(n, ast.Name)]
            if names and all(n.id in view.kernel.constexprs for n in names):
                found |= _scalar_loads(view, side)
    return found


def _scalar_loads(view: KernelView, node: ast.expr) -> set[ast.AST]:
    return {
        n
        for n in sources_of(view, node)
        if isinstance(n, ast.Call) and view.operation(n) == "load" and not view.is_block(n)
    }


def _is_masked_by(view: KernelView, cursors: set[ast.AST]) -> bool:
    """Loads of the ring stop at the cursor: `mask = slots < write_pos`."""
    for call in view.own.called("load"):
        mask = next((k.value for k in call.keywords if k.arg == "mask"), None)
        if mask is not None and cursors & sources_of(view, mask):
            return True
    return False


DETECTOR = Detector("replay_ring", _uses)
