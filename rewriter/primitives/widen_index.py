"""widen_index: cast the root of a 32-bit offset to int64.

rewrite:  i_n = tl.program_id(0)      ->  i_n = tl.program_id(0).to(tl.int64)
          i_n = tl.load(index + i)    ->  i_n = tl.load(index + i).to(tl.int64)
          i_b = i_bh // H             ->  i_b = (i_bh // H).to(tl.int64)
          p = x + t * stride          ->  p = x + t.to(tl.int64) * stride   (t the variable of a loop)

A product wraps past 2**31 - 1 before it is added to the pointer; with one wide factor it does not. The index is cast
once, where it is loaded or computed, unless the wider type would not be accepted somewhere else it goes (a block
pointer's offset, a helper, a name that a loop carries in 32 bits): then the cast stands in the product itself.

Numerics
    `bitwise`: only addresses are wider. Where nothing wrapped, every value is the same.

Conditions
    - an access's offset holds a product of a program id, a loaded number or the variable of a loop of runtime length
      with a stride or size, and nothing in it is int64;
    - no bound keeps it small: sizes known at compile time, or a tile offset that a mask cuts.
    Products that cannot be widened safely are left; where none can, the primitive refuses.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..analysis.flow import flow_of
from ..analysis.widening import WideningAnalysis
from ..analysis.widths import Product, Root, WidthAnalysis
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.text import bracketed_span, is_atom
from ..reasons import refuse
from .base import Primitive
from .names import language_name

_PREFERENCE = ("decoded", "program_id", "load", "cast", "loop")


def widen_index(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that widen every 32-bit product of the kernel's offsets that may wrap.

    Raises Refuse: index_already_wide, index_not_root, unknown_construct.
    """
    flow = flow_of(kernel.node)
    widths = WidthAnalysis(module, kernel, flow)
    products = widths.narrow_products()
    if not products:
        raise refuse("index_already_wide", kernel.node, kernel=kernel.name)
    if flow.opaque:
        statement = flow.opaque[0]
        raise refuse("unknown_construct", statement, construct=f"`{type(statement).__name__.lower()}`")
    language = language_name(module, kernel)
    if language is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    casts = _casts(WideningAnalysis(module, kernel, flow, widths), products)
    if not casts:
        raise refuse("index_not_root", products[0].node, also=[p.node for p in products[1:]])
    return [e for node in casts for e in _cast(module, node, f".to({language}.int64)")]


def _casts(analysis: WideningAnalysis, products: list[Product]) -> list[ast.expr]:
    """What to cast: for each product the first root that can be, else the operand itself."""
    chosen: list[ast.expr] = []
    wide: set[ast.expr] = set()
    for product in products:
        if product.node.left in wide or product.node.right in wide:
            continue
        for node in _candidates(product):
            spread = analysis.spread(node)
            if spread.trouble is None and (product.node.left in spread.nodes or product.node.right in spread.nodes):
                chosen.append(node)
                wide |= spread.nodes
                break
    return chosen


def _candidates(product: Product) -> list[ast.expr]:
    """Roots in order of preference, then the operand; a loop's variable has no root but its use."""
    ranked = sorted(product.roots, key=lambda root: _PREFERENCE.index(root.kind))
    found = [root.node for root in ranked if root.kind != "loop"]
    return (
        found + [root.node for root in ranked if _is_plain(root, product)] + ([product.side] if product.tensor else [])
    )


def _is_plain(root: Root, product: Product) -> bool:
    return root.kind == "loop" and product.tensor


def _cast(module: Module, node: ast.expr, suffix: str) -> list[Edit]:
    start, end = module.source.span(node)
    if is_atom(node):
        return [Edit(end, end, suffix)]
    outer = bracketed_span(module.source, node)
    if outer != (start, end):
        return [Edit(outer[1], outer[1], suffix)]
    return [Edit(start, start, "("), Edit(end, end, f"){suffix}")]


PRIMITIVE = Primitive("widen_index", widen_index, NumericsClass.BITWISE)
