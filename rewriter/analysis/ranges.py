"""Bounds of floating-point values: what a divisor is proved to be.

A value is 0 (if `zero`), or lies in [low, high], or is infinite (if `infinite`), or is NaN, which no bound excludes: a
quotient by NaN and a product with its reciprocal are both NaN. Facts used beside interval arithmetic:

- a block has at most 2**20 elements, so a sum over a dimension is at most 2**20 times its largest term;
- a sum of non-negative terms is at least any of its terms;
- exp(a - max(a over a dimension)) is at most 1, and its sum over that dimension is at least exp(0) = 1 (NaN where the
  maximum is infinite);
- inside `where(c, x, y)`, x matters only where c holds, row by row.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import replace

from ..kernel.definition import KernelDef, Module
from .flow import Definition, Flow
from .interval import ANYTHING, LARGEST, Range, added, bounded, constant, join, over, times
from .operators import expanded_dims, number, operand, operation

MAX_ELEMENTS = 2.0**20
"""Most elements of a Triton block."""
SQRT_LARGEST = 1.9e19
"""Above the square root of every finite fp32 value."""


Known = tuple[tuple[str, int | None, bool], ...]
"""Conditions that hold: the key, the dimension (from the right) that its lanes lie on, None for a scalar; its truth."""


class RangeAnalysis:
    """Bounds of the expressions of one function."""

    def __init__(self, module: Module, kernel: KernelDef, flow: Flow) -> None:
        self.module, self.kernel, self.flow = module, kernel, flow
        self._ranges: dict[tuple[ast.expr, Known], Range] = {}
        self.ranks: dict[ast.expr, int | None] = {}

    def of(self, node: ast.expr, known: Known = ()) -> Range:
        """Bounds of an expression where the conditions in `known` hold."""
        # Only a carried name closes a cycle, and of that nothing is known: the recursion ends.
        if (node, known) not in self._ranges:
            self._ranges[node, known] = self._of(node, known)
        return self._ranges[node, known]

    def _of(self, node: ast.expr, known: Known) -> Range:
        value = number(self.module, self.flow, node)
        if value is not None:
            return constant(value)
        match node:
            case ast.Name():
                made = self.flow.reaching.get(node)
                return self._definition(made, known) if made is not None else ANYTHING
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(node, left, op, right, known)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                a = self.of(inner, known)
                return Range(-a.high, -a.low, a.zero, a.infinite)
            case ast.Subscript():
                view = expanded_dims(node)
                return self.of(view[0], through_view(self, known, *view)) if view is not None else ANYTHING
            case ast.Call():
                return self._call(node, known)
            case _:
                return ANYTHING

    def _definition(self, made: Definition, known: Known) -> Range:
        if made.kind == "assign" and made.value is not None:
            return self.of(made.value, known)
        if made.kind == "join":
            return join([self._definition(s, known) for s in made.sources])
        return ANYTHING

    def _binary(self, node: ast.BinOp, left: ast.expr, op: ast.operator, right: ast.expr, known: Known) -> Range:
        a, b = self.of(left, known), self.of(right, known)
        if isinstance(op, ast.Add):
            return added(a, b)
        if isinstance(op, ast.Sub):
            return added(a, Range(-b.high, -b.low, b.zero, b.infinite))
        if isinstance(op, ast.Mult):
            if key_of(self.module, self.flow, left) == key_of(self.module, self.flow, right):
                top = max(
                    a.floor**2 if math.isfinite(a.floor) else math.inf,
                    a.ceiling**2 if math.isfinite(a.ceiling) else math.inf,
                )
                return bounded(0.0, top)
            corners = [times(x, y) for x in (a.floor, a.ceiling) for y in (b.floor, b.ceiling)]
            return bounded(min(corners), max(corners))
        if isinstance(op, ast.Div) and b.floor > 0 and math.isfinite(b.ceiling):
            corners = [over(x, y) for x in (a.floor, a.ceiling) for y in (b.floor, b.ceiling)]
            return bounded(min(corners), max(corners))
        return ANYTHING

    def _call(self, node: ast.Call, known: Known) -> Range:
        name = operation(self.module, self.flow, node)
        first = operand(self.module, self.flow, node, 0, "input")
        if name is None or first is None:
            return ANYTHING
        handler = _HANDLERS.get(name)
        return handler(self, node, first, known) if handler is not None else ANYTHING

    def exp(self, node: ast.Call, first: ast.expr, known: Known) -> Range:
        """In [0, 1] where the exponent is at most 0, below a maximum of its own included."""
        top = 0.0 if maximum_of(self, first, known) is not None else self.of(first, known).ceiling
        bottom = self.of(first, known).floor
        if top > 80.0:
            return Range(0.0, LARGEST, True, True)
        base = 2.0 if operation(self.module, self.flow, node) == "exp2" else math.e
        # A hundredth off covers the hardware's approximation.
        low = base**bottom * 0.99 if bottom > -80.0 else 0.0
        return Range(low, base**top * (1.01 if top else 1.0), low == 0.0, False)

    def sqrt(self, node: ast.Call, first: ast.expr, known: Known) -> Range:
        a = self.of(first, known)
        low = math.sqrt(a.floor) * 0.99 if 0 < a.floor < math.inf else 0.0
        high = math.sqrt(a.ceiling) * 1.01 if 0 <= a.ceiling < LARGEST else SQRT_LARGEST
        return Range(low, high, low == 0.0, not a.ceiling < LARGEST)

    def abs(self, node: ast.Call, first: ast.expr, known: Known) -> Range:
        a = self.of(first, known)
        high = max(abs(a.low), abs(a.high))
        return Range(max(a.low, -a.high, 0.0), high, a.zero or a.low <= 0 <= a.high, a.infinite)

    def sum(self, node: ast.Call, first: ast.expr, known: Known) -> Range:
        """At least 1 for exponentials measured from their own maximum over the summed dimension."""
        axis = axis_of(self, node)
        inner = through_reduction(known, axis, rank_hint(self, first))
        a = self.of(first, inner)
        low = a.floor if a.floor >= 0 else a.floor * MAX_ELEMENTS
        high = a.ceiling * MAX_ELEMENTS if a.ceiling > 0 else a.ceiling
        if a.floor >= 0 and self._counts_its_maximum(first, axis, inner):
            return Range(1.0, max(high, 1.0), False, not math.isfinite(high))
        return bounded(low, high)

    def _counts_its_maximum(self, terms: ast.expr, axis: int | None, known: Known) -> bool:
        made = self.flow.resolve(terms)
        call = self._value_of(made)
        if not isinstance(call, ast.Call) or operation(self.module, self.flow, call) not in ("exp", "exp2"):
            return False
        first = operand(self.module, self.flow, call, 0, "x")
        found = maximum_of(self, first, known) if first is not None else None
        return found is not None and found == (None if axis == 0 and rank_hint(self, terms) == 1 else axis,)

    def _value_of(self, node: ast.expr) -> ast.expr:
        made = self.flow.definition(node)
        return made.value if made is not None and made.kind == "assign" and made.value is not None else node

    def extreme(self, node: ast.Call, first: ast.expr, known: Known) -> Range:
        """`tl.max` and `tl.min` over a dimension."""
        return self.of(first, through_reduction(known, axis_of(self, node), rank_hint(self, first)))

    def maximum(self, node: ast.Call, first: ast.expr, known: Known) -> Range:
        """NaN apart, at least the larger of the two lower bounds."""
        second = operand(self.module, self.flow, node, 1, "y")
        if second is None:
            return ANYTHING
        a, b = self.of(first, known), self.of(second, known)
        high = max(a.most, b.most)
        upwards = math.isinf(max(a.ceiling, b.ceiling))
        return bounded(max(a.floor, b.floor), math.inf if upwards and high <= 0 else high, a.infinite or b.infinite)

    def minimum(self, node: ast.Call, first: ast.expr, known: Known) -> Range:
        second = operand(self.module, self.flow, node, 1, "y")
        if second is None:
            return ANYTHING
        a, b = self.of(first, known), self.of(second, known)
        return bounded(min(a.floor, b.floor), min(a.ceiling, b.ceiling))

    def clamp(self, node: ast.Call, first: ast.expr, known: Known) -> Range:
        low, high = operand(self.module, self.flow, node, 1, "min"), operand(self.module, self.flow, node, 2, "max")
        if low is None or high is None:
            return ANYTHING
        return bounded(self.of(low, known).floor, self.of(high, known).ceiling)

    def where(self, node: ast.Call, first: ast.expr, known: Known) -> Range:
        """Each arm under its condition; a comparison with 0 also takes 0 out of the arm it guards."""
        yes, no = operand(self.module, self.flow, node, 1, "x"), operand(self.module, self.flow, node, 2, "y")
        if yes is None or no is None:
            return ANYTHING
        truth = self.truth(first, known)
        if truth is not None:
            return self.of(yes if truth else no, known)
        key, dim = key_of(self.module, self.flow, first), condition_dim(self, first)
        parts = []
        for arm, holds in ((yes, True), (no, False)):
            inner = known if dim is False else (*known, (key, dim, holds))
            parts.append(self._without_zero(first, holds, arm, self.of(arm, inner)))
        return join(parts)

    def _without_zero(self, test: ast.expr, holds: bool, arm: ast.expr, a: Range) -> Range:
        test = self._value_of(self.flow.resolve(test))
        if (
            not isinstance(test, ast.Compare)
            or len(test.ops) != 1
            or number(self.module, self.flow, test.comparators[0]) != 0
        ):
            return a
        if key_of(self.module, self.flow, test.left) != key_of(self.module, self.flow, arm):
            return a
        op = test.ops[0]
        if (isinstance(op, ast.Eq) and not holds) or (isinstance(op, (ast.NotEq, ast.Gt, ast.Lt)) and holds):
            return replace(a, zero=False)
        return a

    def truth(self, test: ast.expr, known: Known) -> bool | None:
        """What is known of a condition at this lane; None where nothing is."""
        if not known:
            return None
        key, dim = key_of(self.module, self.flow, test), condition_dim(self, test)
        return next((holds for k, d, holds in known if k == key and d == dim and dim is not False), None)

    def same(self, node: ast.Call, first: ast.expr, known: Known) -> Range:
        return self.of(first, known)


_HANDLERS: dict[str, Callable[[RangeAnalysis, ast.Call, ast.expr, Known], Range]] = {
    "exp": RangeAnalysis.exp,
    "exp2": RangeAnalysis.exp,
    "sqrt": RangeAnalysis.sqrt,
    "sqrt_rn": RangeAnalysis.sqrt,
    "abs": RangeAnalysis.abs,
    "sum": RangeAnalysis.sum,
    "max": RangeAnalysis.extreme,
    "min": RangeAnalysis.extreme,
    "maximum": RangeAnalysis.maximum,
    "minimum": RangeAnalysis.minimum,
    "clamp": RangeAnalysis.clamp,
    "where": RangeAnalysis.where,
}


def maximum_of(run: RangeAnalysis, node: ast.expr, known: Known) -> tuple[int | None] | None:
    """For `a - max(a over a dimension)`: that dimension (None for all), in a tuple; None for anything else.

    The maximum may stand behind copies, views that put the dimension back, and a `where` whose outcome is known.
    """
    node = run._value_of(run.flow.resolve(node))
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
        return None
    rank = rank_hint(run, node.left)
    anchor, new, known = node.right, None, known
    for _ in range(20):
        anchor = run._value_of(run.flow.resolve(anchor))
        view = expanded_dims(anchor)
        if view is not None and new is None and any(view[1]):
            anchor, new, known = view[0], view[1], through_view(run, known, *view)
            continue
        if isinstance(anchor, ast.Call) and operation(run.module, run.flow, anchor) == "where":
            test, yes, no = (operand(run.module, run.flow, anchor, i, n) for i, n in enumerate(("condition", "x", "y")))
            truth = run.truth(test, known) if test is not None else None
            if truth is None or yes is None or no is None:
                return None
            anchor = yes if truth else no
            continue
        break
    if not isinstance(anchor, ast.Call) or operation(run.module, run.flow, anchor) != "max" or len(anchor.args) > 2:
        return None
    source = operand(run.module, run.flow, anchor, 0, "input")
    if source is None or any(k.arg not in ("axis", "input") for k in anchor.keywords):
        return None
    if key_of(run.module, run.flow, source) != key_of(run.module, run.flow, node.left):
        return None
    axis = axis_of(run, anchor)
    if new is None:
        # A scalar maximum of everything: over all dimensions, or the only one.
        return (None,) if axis is None or (axis == 0 and rank == 1) else None
    if new.count(True) != 1 or axis is None or axis < 0 or axis >= len(new) or not new[axis]:
        return None
    return (axis,)


def axis_of(run: RangeAnalysis, node: ast.Call) -> int | None:
    """The reduced dimension; None for all. -1 for one that is not a literal: equal to nothing that is proved."""
    value = operand(run.module, run.flow, node, 1, "axis")
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return None
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value >= 0 else -1


def rank_hint(run: RangeAnalysis, node: ast.expr) -> int | None:
    """Number of dimensions of an expression, where its spelling shows it."""
    if node not in run.ranks:
        run.ranks[node] = _rank(run, run.flow.resolve(node))
    return run.ranks[node]


def _rank(run: RangeAnalysis, node: ast.expr) -> int | None:
    made = run.flow.definition(node)
    if made is not None:
        if made.kind == "parameter":
            # A launch passes pointers and numbers only; a helper may be given blocks.
            return 0 if run.kernel.is_entry else None
        return (
            rank_hint(run, made.value)
            if made.kind == "assign" and made.value is not None
            else 0
            if made.kind == "loop"
            else None
        )
    view = expanded_dims(node)
    if view is not None:
        inner = rank_hint(run, view[0])
        return len(view[1]) if inner is None or inner <= len(view[1]) else None
    match node:
        case ast.Constant():
            return 0
        case ast.BinOp(left=left, right=right):
            return _widest([rank_hint(run, left), rank_hint(run, right)])
        case ast.Compare(left=left, comparators=[right]):
            return _widest([rank_hint(run, left), rank_hint(run, right)])
        case ast.UnaryOp(operand=inner_node):
            return rank_hint(run, inner_node)
        case ast.Call():
            return _call_rank(run, node)
        case ast.Name():
            return 0 if number(run.module, run.flow, node) is not None else None
        case _:
            return None


def _call_rank(run: RangeAnalysis, node: ast.Call) -> int | None:
    name = operation(run.module, run.flow, node)
    first = operand(run.module, run.flow, node, 0, "input")
    if name == "arange":
        return 1
    if name in ("program_id", "num_programs", "cdiv"):
        return 0
    if first is None:
        return None
    if name in ("load", "to", "cast", "exp", "exp2", "abs", "sqrt", "log", "cumsum"):
        return rank_hint(run, first)
    if name in ("where", "maximum", "minimum"):
        parts = [operand(run.module, run.flow, node, i, "") for i in range(3 if name == "where" else 2)]
        return _widest([rank_hint(run, p) if p is not None else None for p in parts])
    if name in ("sum", "max", "min") and not any(k.arg == "keep_dims" for k in node.keywords):
        inner = rank_hint(run, first)
        return 0 if axis_of(run, node) is None else inner - 1 if inner else None
    return None


def _widest(ranks: list[int | None]) -> int | None:
    return None if any(r is None for r in ranks) else max(r for r in ranks if r is not None)


def condition_dim(run: RangeAnalysis, test: ast.expr) -> int | bool | None:
    """Dimension, from the right, on which a condition's lanes lie; None for a scalar; False where it is not plain."""
    rank = rank_hint(run, test)
    return None if rank == 0 else -1 if rank == 1 else False


def through_view(run: RangeAnalysis, known: Known, base: ast.expr, new: tuple[bool, ...]) -> Known:
    """Conditions at a lane of `base[:, None]`, as conditions at the lane of base."""
    kept: list[tuple[str, int | None, bool]] = []
    old = [i for i, is_new in enumerate(new) if not is_new]
    if known and rank_hint(run, base) != len(old):
        # Dimensions that the subscript does not spell out: only scalar conditions carry over.
        return tuple(k for k in known if k[1] is None)
    for key, dim, holds in known:
        if dim is None:
            kept.append((key, None, holds))
        elif len(new) + dim in old:
            kept.append((key, old.index(len(new) + dim) - len(old), holds))
    return tuple(kept)


def through_reduction(known: Known, axis: int | None, rank: int | None) -> Known:
    """Conditions at a lane of `sum(x, axis)`, as conditions at the lanes of x that it sums."""
    kept: list[tuple[str, int | None, bool]] = []
    for key, dim, holds in known:
        if dim is None:
            kept.append((key, None, holds))
        elif axis is not None and axis >= 0 and rank is not None and rank > axis:
            place = rank - 1 + dim
            kept.append((key, (place if place < axis else place + 1) - rank, holds))
    return tuple(kept)


def key_of(module: Module, flow: Flow, node: ast.expr) -> str:
    """Equal keys, equal values: names by definition, pure operations by their operands; anything else is its own."""
    node = flow.resolve(node)
    made = flow.definition(node)
    if made is not None:
        return f"#{id(made)}"
    match node:
        case ast.Constant(value=value):
            return repr(value)
        case ast.Name(id=name):
            return name
        case ast.BinOp(left=left, op=op, right=right):
            return f"{type(op).__name__}({key_of(module, flow, left)},{key_of(module, flow, right)})"
        case ast.UnaryOp(op=unary, operand=inner):
            return f"{type(unary).__name__}({key_of(module, flow, inner)})"
        case ast.Compare(left=left, ops=[compare], comparators=[right]):
            return f"{type(compare).__name__}({key_of(module, flow, left)},{key_of(module, flow, right)})"
        case _:
            return f"@{id(node)}"
