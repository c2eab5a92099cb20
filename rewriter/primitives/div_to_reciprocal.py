"""div_to_reciprocal: multiply by a reciprocal where that is proved to give the same value but for rounding.

rewrite:  x / tl.sqrt(y)       ->  x * tl.rsqrt(y)
          1.0 / tl.sqrt(y)     ->  tl.rsqrt(y)
          n = tl.sqrt(y); x / n[:, None]  ->  inv_n = tl.rsqrt(y); x * inv_n[:, None]
          b_e / b_l[:, None]   ->  b_e * (1.0 / b_l)[:, None]

A root that is only ever a divisor becomes a reciprocal root. Any other divisor is inverted once, on its own (smaller)
shape; where the quotient is no larger than the divisor there is nothing to gain and it is left alone, and so is a
division by a literal.

Numerics
    `approximate`: the reciprocal is rounded before the product (and rsqrt is a hardware approximation): a few units in
    the last place of fp32. Zero, infinite and NaN radicands give what the division gave: y = 0 makes both forms
    x * inf, y = inf both 0, and 0 / 0 and 0 * inf are both NaN. The square root of an fp32 number is never so small or
    so large that its reciprocal overflows or vanishes.

Conditions
    - the divisor is `tl.sqrt` of something, or is proved to be fp32 or fp64, not zero, at least 1e-30 and at most 1e30
      in size (infinity apart, where quotient and product are both 0 or NaN);
    - never an integer division.
    Divisions that do not meet them are left as they are; where none does, the primitive refuses.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from skel.store.schema import NumericsClass

from ..analysis.events import Events
from ..analysis.flow import Definition, Flow, flow_of
from ..analysis.interpreter import Interpreter
from ..analysis.interval import Range
from ..analysis.operators import expanded_dims, is_wrapper, number, operand, operation
from ..analysis.ranges import RangeAnalysis
from ..analysis.types import TypeAnalysis
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.text import Wrap, bracketed_span, is_atom, operator_span, wrap_edits
from ..reasons import refuse
from .base import Primitive
from .names import language_name, names_in_use

SMALLEST, LARGEST = 1e-30, 1e30
"""Sizes between which a divisor and its reciprocal are far from underflow and overflow in fp32."""


@dataclass(frozen=True)
class Division:
    """One `x / y` or `x /= y` of the kernel."""

    node: ast.BinOp | ast.AugAssign
    left: ast.expr
    right: ast.expr


@dataclass(frozen=True)
class _Facts:
    module: Module
    kernel: KernelDef
    flow: Flow
    types: TypeAnalysis
    ranges: RangeAnalysis
    events: Events


def div_to_reciprocal(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that turn every provable division of the kernel into a product.

    Raises Refuse: pattern_not_found, already_applied, integer_division, divisor_unproved, unknown_construct.
    """
    flow = flow_of(kernel.node)
    if flow.opaque:
        statement = flow.opaque[0]
        raise refuse("unknown_construct", statement, construct=f"`{type(statement).__name__.lower()}`")
    facts = _Facts(
        module,
        kernel,
        flow,
        TypeAnalysis(module, kernel, flow),
        RangeAnalysis(module, kernel, flow),
        Interpreter(module, kernel).run(),
    )
    divisions = list(_divisions(kernel))
    edits: list[Edit] = []
    wraps: list[Wrap] = []
    unproved: list[Division] = []
    integer: list[Division] = []
    renamed: dict[Definition, list[Division]] = {}
    for division in divisions:
        made = _root_name(facts, division.right)
        if _is_root(facts, division.right):
            edits += _with_rsqrt(facts, division)
        elif made is not None and _only_divides(facts, made, divisions):
            renamed.setdefault(made, []).append(division)
        elif facts.types.is_integer(division.right) and facts.types.is_integer(division.left):
            integer.append(division)
        elif not _gains(facts, division) or number(facts.module, facts.flow, division.right) is not None:
            # A literal is left alone: quantisers divide by one just before they round.
            continue
        elif made is not None or _is_proved(facts, division):
            edits.append(_times(facts, division))
            wraps.append(_reciprocal(facts, division))
        else:
            unproved.append(division)
    for made, group in renamed.items():
        edits += _reciprocal_root(facts, made, group)
    if edits:
        return wrap_edits(wraps, edits)
    raise _nothing(facts, unproved, integer)


def _divisions(kernel: KernelDef) -> Iterator[Division]:
    for node in ast.walk(kernel.node):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            yield Division(node, node.left, node.right)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
            yield Division(node, node.target, node.value)


def _nothing(facts: _Facts, unproved: list[Division], integer: list[Division]) -> Exception:
    kernel = facts.kernel
    if unproved:
        return refuse("divisor_unproved", unproved[0].node, also=[d.node for d in unproved[1:]])
    whole: list[ast.AST] = [d.node for d in integer]
    if not whole and not list(_divisions(kernel)):
        # Taking ids and indices apart is no candidate; dividing what was loaded might be meant.
        whole = [
            n
            for n in ast.walk(kernel.node)
            if isinstance(n, ast.BinOp)
            and isinstance(n.op, ast.FloorDiv)
            and n in facts.events.values
            and facts.events.values[n].memory
            and facts.events.values[n].is_block
        ]
    calls = [n for n in ast.walk(kernel.node) if isinstance(n, ast.Call)]
    roots = [n for n in calls if operation(facts.module, facts.flow, n) == "rsqrt"]
    if roots:
        return refuse("already_applied", roots[0], kernel=kernel.name, skeleton="div_to_reciprocal")
    if whole:
        return refuse("integer_division", whole[0], also=whole[1:])
    return refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="div_to_reciprocal")


# -- what a divisor is --------------------------------------------------------------------------------------------


def _unwrapped(node: ast.expr) -> ast.expr:
    """The value behind views that only add dimensions."""
    while (view := expanded_dims(node)) is not None:
        node = view[0]
    return node


def _is_root(facts: _Facts, node: ast.expr) -> bool:
    """True for `tl.sqrt(y)`, however it is spelled, with added dimensions or not."""
    inner = _unwrapped(node)
    if not isinstance(inner, ast.Call) or operation(facts.module, facts.flow, inner) != "sqrt":
        return False
    radicand = operand(facts.module, facts.flow, inner, 0, "x")
    # A helper may cast on the way, which the language's own rsqrt does not.
    return radicand is not None and (not is_wrapper(facts.module, facts.flow, inner) or facts.types.is_wide(radicand))


def _root_name(facts: _Facts, node: ast.expr) -> Definition | None:
    """The definition `n = tl.sqrt(y)` behind a divisor `n` or `n[:, None]`."""
    made = facts.flow.definition(_unwrapped(node))
    if made is None or made.kind != "assign" or made.value is None or not _is_root(facts, made.value):
        return None
    return made


def _only_divides(facts: _Facts, made: Definition, divisions: list[Division]) -> bool:
    """True where every use of the root is a divisor, so that nothing else sees it become a reciprocal."""
    divisors = {id(_unwrapped(d.right)) for d in divisions}
    statement = made.statement
    single = isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.targets[0] is made.node
    return single and not made.feeds and bool(made.uses) and all(id(use) in divisors for use in made.uses)


def _is_proved(facts: _Facts, division: Division) -> bool:
    """True where the divisor's reciprocal is finite and normal, and taking it first keeps the type."""
    return is_safe_divisor(facts.ranges.of(division.right)) and facts.types.is_wide(division.right)


def is_safe_divisor(bounds: Range) -> bool:
    """True for values that are neither zero nor tiny nor huge; infinity is safe where no finite value is huge."""
    if bounds.zero:
        return False
    return SMALLEST <= bounds.low <= bounds.high <= LARGEST or SMALLEST <= -bounds.high <= -bounds.low <= LARGEST


def _gains(facts: _Facts, division: Division) -> bool:
    """True where the quotient is a block and the divisor has fewer elements."""
    values = facts.events.values
    quotient = values.get(division.left), values.get(division.right)
    if quotient[0] is None or quotient[1] is None or quotient[0].dims is None or quotient[1].dims is None:
        return False
    top = [d.size for d in quotient[0].dims if d.size != "1"]
    below = [d.size for d in quotient[1].dims if d.size != "1"]
    return len(top) > len(below) and None not in top


# -- edits ----------------------------------------------------------------------------------------------------


def _with_rsqrt(facts: _Facts, division: Division) -> list[Edit]:
    """`x / tl.sqrt(y)` as a product; `1 / tl.sqrt(y)` as the reciprocal root alone."""
    source = facts.module.source
    root = _unwrapped(division.right)
    assert isinstance(root, ast.Call)
    edits = [_call_rsqrt(facts, root)]
    if (
        isinstance(division.node, ast.BinOp)
        and number(facts.module, facts.flow, division.left) == 1.0
        and isinstance(division.left, ast.Constant)
    ):
        start, end = source.span(division.node)
        right = bracketed_span(source, division.right)
        inner = source.span(division.right)
        # Brackets round the root alone go with the `1 /`; the quotient's own stay.
        if right[1] > end:
            right = inner
        keep = _spans_lines(source.text[inner[0] : inner[1]])
        first, last = right if keep else inner
        return [*edits, Edit(start, first, ""), *([Edit(last, end, "")] if end > last else [])]
    return [*edits, _times(facts, division)]


def _spans_lines(text: str) -> bool:
    """True where a text goes over lines outside brackets of its own, so that it may need those around it."""
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "\n" and depth == 0:
            return True
    return False


def _times(facts: _Facts, division: Division) -> Edit:
    augmented = isinstance(division.node, ast.AugAssign)
    start, end = operator_span(facts.module.source, division.node, "/=" if augmented else "/")
    return Edit(start, end, "*=" if augmented else "*")


def _call_rsqrt(facts: _Facts, root: ast.Call) -> Edit:
    """The function's name changed: `tl.sqrt` to `tl.rsqrt`, a helper of the root to the language's own."""
    source = facts.module.source
    start, end = source.span(root.func)
    if isinstance(root.func, ast.Attribute) and not is_wrapper(facts.module, facts.flow, root):
        return Edit(end - len(root.func.attr), end, "rsqrt")
    return Edit(start, end, f"{_language(facts)}.rsqrt")


def _language(facts: _Facts) -> str:
    name = language_name(facts.module, facts.kernel)
    if name is None:
        raise refuse("unknown_construct", facts.kernel.node, construct="a file that does not import triton.language")
    return name


def _reciprocal_root(facts: _Facts, made: Definition, group: list[Division]) -> list[Edit]:
    """`n = tl.sqrt(y)` becomes `inv_n = tl.rsqrt(y)`, and what divided by n multiplies with it."""
    source = facts.module.source
    assert made.value is not None
    root = _unwrapped(made.value)
    assert isinstance(root, ast.Call)
    edits = [_call_rsqrt(facts, root), *(_times(facts, d) for d in group)]
    name = f"inv_{made.name}"
    if name not in names_in_use(facts.module, facts.kernel):
        edits += [Edit(*source.span(node), name) for node in (made.node, *made.uses)]
    return edits


def _reciprocal(facts: _Facts, division: Division) -> Wrap:
    """The divisor `y[:, None]` becomes `(1.0 / y)[:, None]`."""
    base = _unwrapped(division.right)
    start, end = bracketed_span(facts.module.source, base)
    bare = not is_atom(base) and (start, end) == facts.module.source.span(base)
    return Wrap(start, end, "(1.0 / (" if bare else "(1.0 / ", "))" if bare else ")")


PRIMITIVE = Primitive("div_to_reciprocal", div_to_reciprocal, NumericsClass.APPROXIMATE)
