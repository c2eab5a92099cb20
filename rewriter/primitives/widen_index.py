"""widen_index: cast the root of a 32-bit offset to int64.

rewrite:  i_n = tl.program_id(0)      ->  i_n = tl.program_id(0).to(tl.int64)
          i_n = tl.load(index + i)    ->  i_n = tl.load(index + i).to(tl.int64)
          i_b = i_bh // H             ->  i_b = (i_bh // H).to(tl.int64)
          p = x + t * stride          ->  p = x + tl.cast(t, tl.int64) * stride   (t the variable of a loop)

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
from collections.abc import Collection

from skel.store.schema import NumericsClass

from ..analysis.flow import Flow, flow_of
from ..analysis.plain_numbers import PlainNumbers
from ..analysis.widening import WideningAnalysis
from ..analysis.widths import Product, WidthAnalysis
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.text import Wrap, bracketed_span, is_atom, wrap_edits
from ..reasons import refuse
from .base import Primitive
from .names import language_name

LARGE_LITERAL = 1 << 20
"""A factor that no stride or size is written as."""
_CUTS = (ast.Mod, ast.RShift, ast.BitXor)
_PREFERENCE = ("decoded", "program_id", "load", "loop", "cast")
_ROOTS = frozenset({"decoded", "program_id", "load"})


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
    casts, left = _casts(module, kernel, flow, products)
    if not casts:
        raise refuse("index_not_root", left[0].node, also=[p.node for p in left[1:]])
    numbers = PlainNumbers(module, kernel, flow)
    return wrap_edits(
        _cast(module, is_root and not numbers.may_be(node), language, node) for node, is_root in casts.items()
    )


def _casts(
    module: Module, kernel: KernelDef, flow: Flow, products: list[Product]
) -> tuple[dict[ast.expr, bool], list[Product]]:
    """What to cast, and whether it is a root (else an operand); and the products that cannot be widened.

    For each product the first root that can be cast, else the operand itself; then again with that assumed, since
    what is wide by one path may be narrow by another.
    """
    chosen: dict[ast.expr, bool] = {}
    left: dict[ast.BinOp, Product] = {}
    analysis = WideningAnalysis(module, kernel, flow, WidthAnalysis(module, kernel, flow))
    while pending := [p for p in products if p.node not in left]:
        # Inner products come first, and a wide one makes those around it wide.
        product = pending[0]
        found = next((n for n in _candidates(product) if n not in chosen and _helps(analysis, product, n)), None)
        if found is None:
            left[product.node] = product
            continue
        chosen[found] = any(root.node is found and root.kind in _ROOTS for root in product.roots)
        widths = WidthAnalysis(module, kernel, flow, frozenset(chosen))
        analysis, products = WideningAnalysis(module, kernel, flow, widths), widths.narrow_products()
    return chosen, list(left.values())


def _helps(analysis: WideningAnalysis, product: Product, node: ast.expr) -> bool:
    """True where a cast of `node` is accepted wherever it goes and makes a factor of the product wide."""
    spread = analysis.spread(node)
    if _hashes(analysis.kernel, spread.nodes):
        return False
    return spread.trouble is None and (product.node.left in spread.nodes or product.node.right in spread.nodes)


def _hashes(kernel: KernelDef, wide: Collection[ast.AST]) -> bool:
    """True where a product that would become wide is then cut down, as hashes do: they mean the 32 bits to wrap."""
    products = {n for n in wide if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)}
    if any(_is_large(side) for n in products for side in (n.left, n.right)):
        return True
    named = {
        target.id
        for statement in ast.walk(kernel.node)
        if isinstance(statement, ast.Assign) and statement.value in products
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    cuts = [n for n in ast.walk(kernel.node) if isinstance(n, ast.BinOp) and isinstance(n.op, _CUTS)]
    return any(n.left in products or (isinstance(n.left, ast.Name) and n.left.id in named) for n in cuts)


def _is_large(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and abs(node.value) >= LARGE_LITERAL


def _candidates(product: Product) -> list[ast.expr]:
    """Roots in order of preference, then the operand. What the author cast to 32 bits, a length mostly, stays so."""
    ranked = sorted(product.roots, key=lambda root: _PREFERENCE.index(root.kind))
    roots = [root.node for root in ranked if root.kind in _ROOTS or (root.kind == "loop" and product.tensor)]
    return roots + ([product.side] if product.tensor else [])


def _cast(module: Module, is_tensor: bool, language: str, node: ast.expr) -> Wrap:
    """A tensor takes `.to`; an operand, or what a loop's variable was taken apart to, may be a plain number in the
    interpreter, so it takes `cast`."""
    start, end = module.source.span(node)
    if not is_tensor:
        return Wrap(start, end, f"{language}.cast(", f", {language}.int64)")
    outer = bracketed_span(module.source, node)
    bare = not is_atom(node) and outer == (start, end)
    return Wrap(*outer, "(" if bare else "", f"{')' if bare else ''}.to({language}.int64)")


PRIMITIVE = Primitive("widen_index", widen_index, NumericsClass.BITWISE)
