"""split_kv. Used: a program attends to one part of the keys and leaves output and log-sum-exp in a slot, or puts such
parts together. Symptom: one program walks all keys of a single query with a running maximum.
"""

from __future__ import annotations

import ast

from .base import Detector, Seen
from .trace import sources_of, stores
from .view import KernelView

_EXPONENTIALS = ("exp", "exp2", "fast_expf")


def _uses(view: KernelView) -> list[Seen]:
    if splits_keys(view):
        return [Seen(view.kernel.node.lineno, "attends to one part of the keys and leaves a partial result")]
    return (
        [Seen(view.kernel.node.lineno, "puts partial attention results together by their log-sum-exps")]
        if combines_parts(view)
        else []
    )


def splits_keys(view: KernelView) -> bool:
    """An online softmax over a loop whose range an axis picks, stored at that axis' slot."""
    loops = _softmax_loops(view)
    for loop in loops:
        axes = {
            a
            for n in ast.walk(loop.iter)
            if isinstance(n, ast.expr) and (v := view.value(n)) is not None
            for a in v.uniform
        }
        for access in view.facts.stores:
            slots = {a for a in axes if any(a.overlaps(u) for u in access.pointer.uniform)}
            slots = {a for a in slots if not any(a.overlaps(x) for x in access.pointer.lanes)}
            if slots and _range_is_a_part(view, loop, slots):
                return True
    return False


def _range_is_a_part(view: KernelView, loop: ast.For, axes: set) -> bool:  # type: ignore[type-arg]
    """Start and end both move with the axis by multiplication: `[length * split, length * (split + 1))`."""
    if not isinstance(loop.iter, ast.Call) or len(loop.iter.args) < 2:
        return False
    products = [
        n for n in sources_of(view, loop.iter.args[0]) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)
    ]
    return any(
        (v := view.value(side)) is not None
        and v.poly is not None
        and (atom := v.poly.sole_atom()) is not None
        and atom.kind == "axis"
        and atom.axis in axes
        for n in products
        for side in (n.left, n.right)
    )


def _softmax_loops(view: KernelView) -> list[ast.For]:
    """Loops that weigh blocks by exponentials under a running maximum, and rescale what they have added up."""
    found = []
    for loop in view.loops:
        if not isinstance(loop, ast.For):
            continue
        if not view.own.called("max", "maximum"):
            break
        inside = set(ast.walk(loop))
        maxima = [n for n in view.own.called("max", "maximum") if n in inside]
        exponentials = [n for n in view.own.called(*_EXPONENTIALS) if n in inside and n.args]
        sums = [
            n for n in view.own.called("dot", "sum") if n in inside and (v := view.value(n)) is not None and v.is_block
        ]
        weighted = any(set(exponentials) & sources_of(view, *n.args[:2]) for n in sums)
        if len(exponentials) >= 2 and weighted and any(set(maxima) & sources_of(view, e.args[0]) for e in exponentials):
            found.append(loop)
    return found


def combines_parts(view: KernelView) -> bool:
    """Loaded blocks weighted by exponentials of loaded numbers less their maximum, and divided by the weights' sum."""
    if view.own.called("dot"):
        return False
    maxima, reductions = set(view.own.called("maximum", "max")), set(view.own.called("sum", "dot", "dot_scaled"))
    weights = set()
    if not maxima:
        return False
    for node in view.own.called(*_EXPONENTIALS):
        if not node.args:
            continue
        back = sources_of(view, node.args[0])
        loads = [n for n in back if isinstance(n, ast.Call) and view.operation(n) == "load"]
        if (
            maxima & back
            and loads
            and not reductions & back
            and not any(view.is_block(n) for n in loads if not _is_vector(view, n))
        ):
            weights.add(node)
    if len(weights) < 2:
        return False
    for _, value in stores(view):
        back = sources_of(view, value)
        divides = any(
            isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div) and weights & sources_of(view, n.right) for n in back
        )
        if divides and weights & back and _weighs_blocks(view, back, weights):
            return True
    return False


def _weighs_blocks(view: KernelView, back: frozenset[ast.AST], weights: set[ast.Call]) -> bool:
    """A weight times a loaded block that is no exponent itself: a softmax of one row multiplies its sums only."""
    exponents = sources_of(view, *(w.args[0] for w in weights))
    for node in back:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
            continue
        for weight, block in ((node.left, node.right), (node.right, node.left)):
            if weights & sources_of(view, weight) and any(
                isinstance(n, ast.Call) and view.operation(n) == "load" and view.is_block(n) and n not in exponents
                for n in sources_of(view, block)
            ):
                return True
    return False


def _is_vector(view: KernelView, node: ast.AST) -> bool:
    value = view.value(node)
    return value is not None and value.dims is not None and len(value.dims) <= 1


def _opportunities(view: KernelView) -> list[Seen]:
    if splits_keys(view):
        return []
    found = []
    for loop in _softmax_loops(view):
        inside = set(ast.walk(loop))
        products = any(n in inside for n in view.own.called("dot", "dot_scaled"))
        if (products and _has_query_rows(view, loop)) or not _is_long(view, loop) or view.flow.loops.get(loop):
            continue
        found.append(Seen(loop.lineno, "one program walks all keys of a single query"))
    return found


def _has_query_rows(view: KernelView, loop: ast.For) -> bool:
    """True unless the rows of the products are surely the heads of one query, over keys of a length read from memory.

    A tile of queries is compared with the keys, or its store is masked by the length.
    """
    inside = set(ast.walk(loop))
    stop = loop.iter.args[min(1, len(loop.iter.args) - 1)] if isinstance(loop.iter, ast.Call) else None
    length = view.value(stop)
    if length is None or not length.memory:
        return True
    for node in inside:
        if isinstance(node, ast.Compare):
            value = view.value(node)
            if value is None or value.dims is None or sum(d.size not in (None, "1") for d in value.dims) > 1:
                return True
            back = sources_of(view, node.left, *node.comparators)
            if any(isinstance(n, ast.Call) and view.operation(n) == "program_id" for n in back):
                return True  # the query's own position
    scores = set(view.own.called("dot", "dot_scaled")) & inside
    results = [store for store, written in stores(view) if scores & sources_of(view, written)]
    masks = [k.value for store in results for k in store.keywords if k.arg == "mask"]
    return not results or any(
        isinstance(n, ast.Call) and view.operation(n) == "load" for m in masks for n in sources_of(view, m)
    )


def _is_long(view: KernelView, loop: ast.For) -> bool:
    """The trip count is known at run time only."""
    args = loop.iter.args if isinstance(loop.iter, ast.Call) else []
    values = [view.value(a) for a in args]
    return any(
        v is not None
        and (
            v.memory
            or (
                v.poly is not None
                and any(a.kind == "opaque" and a.key.startswith(("load", "if", "ifexp")) for a in v.poly.atoms)
            )
            or v.bases
        )
        for v in values
    )


DETECTOR = Detector("split_kv", _uses, _opportunities)
