"""int64_offsets. Symptom: a row's index times the row's size in 32 bits, in the offset of a pointer.

Of the products that may wrap, those are listed whose index nothing bounds in practice: a program id of grid axis 0 (the
other axes end at 65,535 programs), work counted from one, or a block of loaded indices, as into a pool of slots. The
row of a tile is bounded by the mask on it in the same kernel and is left to the rewrite.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from ..analysis.value import Value
from ..analysis.widths import Product, WidthAnalysis
from .base import Detector, Seen
from .view import KernelView


def _opportunities(view: KernelView) -> list[Seen]:
    return [
        Seen(line, f"multiplies {what} by a size in 32 bits: past 2^31 elements the offset wraps")
        for line, what, _ in risky_products(view)
    ]


@lru_cache(maxsize=4)
def risky_products(view: KernelView) -> tuple[tuple[int, str, str], ...]:
    """Lines of products that may pass 2^31, what their index is, and the product itself."""
    if not view.facts.accesses:
        return ()
    found: dict[int, tuple[str, str]] = {}
    in_blocks = {n for c in view.own.called("make_block_ptr", "advance") for n in ast.walk(c)}
    for product in WidthAnalysis(view.module, view.kernel, view.flow).narrow_products():
        what = _unbounded(view, product) if product.node not in in_blocks else None
        if what is not None:
            found.setdefault(product.node.lineno, (what, ast.unparse(product.node)))
    return tuple((line, what, text) for line, (what, text) in sorted(found.items()))


def _unbounded(view: KernelView, product: Product) -> str | None:
    index, node = product.side, product.node
    size = node.right if index is node.left else node.left
    value, kinds = view.value(index), {r.kind for r in product.roots}
    if value is None:
        return None
    if value.dims:
        gathered = kinds == {"load"} and _is_gathered(view, index)
        return "loaded indices" if gathered and _runtime(view, size) else None
    if value.dims != () or not _is_of_axis_zero(value):
        return None
    if kinds == {"program_id"}:
        return "a program id" if _sizes(view, size) | _sizes(view, index) else None
    if _is_tile_start(view, value):
        return None
    return (
        "an index taken from a program id"
        if kinds <= {"program_id", "decoded", "load", "loop"} and _runtime(view, size)
        else None
    )


def _is_of_axis_zero(value: Value) -> bool:
    """It moves with program id 0, and with no digit of it that a `%` bounds."""
    roots = {a for a in value.uniform if a.root == "0"}
    return (
        bool(roots)
        and not any(s[0] == "%" for a in roots for s in a.steps)
        and all(a.root == "0" for a in value.uniform)
    )


def _is_tile_start(view: KernelView, value: Value) -> bool:
    """A tile's number times its size, with or without more."""
    blocks = {n.id for c in view.own.called("arange") for a in c.args for n in ast.walk(a) if isinstance(n, ast.Name)}
    return value.poly is not None and any(a.key in blocks for m, _ in value.poly.terms for a in m)


def _is_gathered(view: KernelView, node: ast.expr) -> bool:
    value = view.value(node)
    return value is not None and bool(value.memory)


def _sizes(view: KernelView, node: ast.expr) -> frozenset[str]:
    """Parameters in an expression that are no sizes of blocks."""
    value = view.value(node)
    if value is None or value.poly is None:
        return frozenset()
    blocks = {n.id for c in view.own.called("arange") for a in c.args for n in ast.walk(a) if isinstance(n, ast.Name)}
    names = {a.key for a in value.poly.atoms if a.kind == "sym"} | set(value.symbols)
    return frozenset(n for n in names if n in view.kernel.parameter_names) - blocks


def _runtime(view: KernelView, node: ast.expr) -> bool:
    return bool(_sizes(view, node) - view.kernel.constexprs)


DETECTOR = Detector("int64_offsets", opportunities=_opportunities)
