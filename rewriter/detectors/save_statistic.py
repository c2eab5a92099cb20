"""save_statistic. Used: a forward kernel stores a small statistic (a log-sum-exp, a reciprocal norm, a mean) beside its
output, for the backward kernels of its file, or for whoever calls its launcher and is handed it."""

from __future__ import annotations

import ast
from functools import lru_cache

from ..analysis.value import Value
from ..kernel.definition import Module
from .base import Detector, Seen
from .split_kv import splits_keys
from .trace import sources_of, stores, unwrapped
from .view import KernelView


def _uses(view: KernelView) -> list[Seen]:
    kept = _has_backward(view.module)
    if splits_keys(view):
        return []
    written = stores(view)
    ranks = [
        len(p.dims) for s, _ in written if s.args and (p := view.value(s.args[0])) is not None and p.dims is not None
    ]
    reductions = set(view.own.called("sum", "max"))
    found = []
    for store, value in written:
        pointer = view.value(store.args[0]) if store.args else None
        if pointer is None or pointer.dims is None or len(pointer.dims) >= max(ranks):
            continue
        if not kept and not _is_handed_back(view, pointer):
            continue
        if reductions & sources_of(view, value) and _is_statistic(view, value):
            found.append(Seen(store.lineno, "stores a statistic for the backward pass"))
    return found


def _is_handed_back(view: KernelView, pointer: Value) -> bool:
    """The launching function returns the buffer, beside another result: somebody keeps it."""
    for launch in view.launches:
        given = {a.id for name, a in launch.arguments.items() if name in pointer.bases and isinstance(a, ast.Name)}
        for node in ast.walk(launch.function) if launch.function is not None else ():
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
                if given & {n.id for n in node.value.elts if isinstance(n, ast.Name)}:
                    return True
    return False


@lru_cache(maxsize=8)
def _has_backward(module: Module) -> bool:
    """The file holds an autograd function, so that something is stored for later."""
    for node in ast.walk(module.source.tree):
        if isinstance(node, ast.ClassDef) and any(
            (module.names.dotted(b) or ast.unparse(b)).endswith("Function") for b in node.bases
        ):
            return True
    return False


def _is_statistic(view: KernelView, value: ast.expr) -> bool:
    """A logarithm of a sum plus a maximum, or the reciprocal of a root."""
    inner = unwrapped(view.own, value)
    for part in _terms(view, inner):
        if view.operation(part) in ("log", "log2", "rsqrt"):
            return True
        if (
            isinstance(part, ast.BinOp)
            and isinstance(part.op, ast.Div)
            and view.operation(unwrapped(view.own, part.right)) == "sqrt"
        ):
            return True
    return False


def _terms(view: KernelView, node: ast.expr) -> list[ast.expr]:
    """The parts of a sum, and the factors of a product by a constant."""
    node = unwrapped(view.own, node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        return [node, *_terms(view, node.left), *_terms(view, node.right)]
    if (
        isinstance(node, ast.Name)
        and (made := view.flow.reaching.get(node)) is not None
        and made.kind in ("augmented", "join")
    ):
        return [p for d in (made, *made.sources) if d.value is not None for p in _terms(view, d.value)]
    return [node]


DETECTOR = Detector("save_statistic", _uses)
