"""loop_tiles. Used: a program walks the tiles of an output dimension in a loop, with work they share before it.

Each round writes its own tile and hands nothing to the next, and it uses reductions, products or exponentials that
were done before the loop.
"""

from __future__ import annotations

import ast

from ..analysis.flow import Definition
from ..analysis.syntax import is_constexpr_test
from .base import Detector, Seen
from .trace import sources_of, stores
from .view import KernelView

_SHARED = ("sum", "max", "dot", "cumsum", "exp", "exp2", "sqrt", "rsqrt", "sigmoid")


def _uses(view: KernelView) -> list[Seen]:
    found = []
    shared = set(view.own.called(*_SHARED))
    for loop in view.loops:
        if (
            not isinstance(loop, ast.For)
            or not isinstance(loop.target, ast.Name)
            or _carries(view, loop)
            or _is_rare(view, loop)
        ):
            continue
        inside = set(ast.walk(loop))
        if _is_strided(view, loop):
            continue
        for store, value in stores(view):
            if store in inside and _walks(view, loop, store) and (shared - inside) & sources_of(view, value):
                found.append(
                    Seen(loop.lineno, "one program walks the tiles of its output, with the shared work before the loop")
                )
                break
    return found


def _carries(view: KernelView, loop: ast.For) -> bool:
    """True where a round takes a block from the one before it."""
    carried = [d for d in view.flow.definitions if d.kind == "carry" and d.node is loop and len(d.sources) > 1]
    for made in carried:
        added = [d.node for d in made.feeds if d.kind == "augmented" and isinstance(d.node, ast.expr)]
        if any(_inside(n, loop) and view.is_block(n) and not _is_pointer(view, n) for n in (*made.uses, *added)):
            return True
    return False


def _is_rare(view: KernelView, loop: ast.For) -> bool:
    """Under a branch that is decided at run time."""
    node: ast.AST = loop
    while node is not view.kernel.node:
        node = view.flow.parents[node]
        if isinstance(node, ast.If) and not is_constexpr_test(node.test, view.kernel.constexprs):
            return True
    return False


def _inside(node: ast.AST, loop: ast.For) -> bool:
    return any(n is node for n in ast.walk(loop))


def _is_pointer(view: KernelView, node: ast.AST) -> bool:
    value = view.value(node)
    return value is not None and bool(value.bases)


def _is_strided(view: KernelView, loop: ast.For) -> bool:
    """A loop by the number of programs walks work items, not tiles."""
    return isinstance(loop.iter, ast.Call) and any(
        (v := view.value(a)) is not None and v.uniform for a in loop.iter.args
    )


def _walks(view: KernelView, loop: ast.For, store: ast.Call) -> bool:
    """True where the address is the loop's variable times a tile, plus lanes."""
    if not store.args:
        return False
    nodes = sources_of(view, store.args[0])
    targets: set[Definition] = {d for d in view.flow.definitions if d.kind == "loop" and d.statement is loop}
    reads = any(isinstance(n, ast.Name) and view.flow.reaching.get(n) in targets for n in nodes)
    return reads and any(isinstance(n, ast.Call) and view.operation(n) == "arange" for n in nodes)


DETECTOR = Detector("loop_tiles", _uses)
