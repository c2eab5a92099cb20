"""exp_to_exp2: exponentials in base two, with log2(e) folded into a factor that is multiplied in anyway.

rewrite:  s = qk * scale; p = tl.exp(s - m)  ->  s = qk * (scale * 1.4426950408889634); p = tl.exp2(s - m)

All values linked by sums, differences, maxima, scans and selections change their unit together; -inf masks and zeros
are the same in every unit. A use that expects the natural unit (a stored maximum, a log-sum-exp) gets the value times
ln(2), where that is cheap.

Numerics
    `approximate`: log2(e) is rounded into the factor once instead of into each exponent inside `tl.exp`: a few units in
    the last place of the exponent, hence of the result. Infinite exponents behave as before; the exponents themselves
    overflow only past 2.3e38.

Conditions
    - every value of a group can be given the factor: by a scalar factor, by the scalar argument of a helper linear in
      it, or by a multiplication that runs less often than the exponentials;
    - no finite constant takes part in it (a bound or a sentinel has a unit of its own);
    - no `exp2` takes a value of the group;
    - uses outside the group are few, and none hides behind a branch or a loop.
    Groups that do not meet them keep the natural base; where none does, the primitive refuses.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..analysis.exponent_group import Group
from ..analysis.exponents import ExponentAnalysis
from ..analysis.flow import Definition, flow_of
from ..analysis.interpreter import Interpreter
from ..analysis.operators import is_wrapper
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.text import Wrap, bracketed_span, is_atom, wrap_edits
from ..reasons import refuse
from .base import Primitive
from .names import language_name

LOG2E = "1.4426950408889634"
LN2 = "0.6931471805599453"
_ORDER = ("mixed_exponent_base", "base_escapes", "exponent_not_scalable")


def exp_to_exp2(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that move every group of exponents that can change its unit to base two.

    Raises Refuse: pattern_not_found, already_applied, mixed_exponent_base, base_escapes, exponent_not_scalable,
    unknown_construct.
    """
    flow = flow_of(kernel.node)
    analysis = ExponentAnalysis(module, kernel, flow, Interpreter(module, kernel).run())
    groups = analysis.groups()
    if not groups:
        if analysis.calls("exp2"):
            raise refuse("already_applied", analysis.calls("exp2")[0], kernel=kernel.name, skeleton="exp_to_exp2")
        raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="exp_to_exp2")
    if flow.opaque:
        statement = flow.opaque[0]
        raise refuse("unknown_construct", statement, construct=f"`{type(statement).__name__.lower()}`")
    sound = [g for g in groups if g.obstacle is None]
    if not sound:
        raise _refusal(kernel, analysis, groups)
    return _edits(module, kernel, analysis, sound)


def _refusal(kernel: KernelDef, analysis: ExponentAnalysis, groups: list[Group]) -> Exception:
    obstacles = [g.obstacle for g in groups if g.obstacle is not None]
    first = min(obstacles, key=lambda o: _ORDER.index(o.code))
    already = analysis.calls("exp2")
    if already and first.code == "exponent_not_scalable":
        return refuse("already_applied", already[0], kernel=kernel.name, skeleton="exp_to_exp2")
    return refuse(first.code, first.node, also=[s for g in groups for s in g.sinks], base=first.base)


def _edits(module: Module, kernel: KernelDef, analysis: ExponentAnalysis, groups: list[Group]) -> list[Edit]:
    source = module.source
    edits: list[Edit] = []
    wraps: list[Wrap] = []
    converted = {n for g in groups for n in g.conversions}
    factors = [f for g in groups for f in g.factors]
    hoisted: set[Definition] = set()
    for factor in factors:
        if factor in converted:
            # It is in the new unit already, which is the factor wanted here.
            converted.discard(factor)
            continue
        made = analysis.flow.definition(factor)
        if made is not None and _set_once(made, factors):
            hoisted.add(made)
        else:
            wraps.append(_times(module, factor, LOG2E, bare=_is_argument(analysis, factor)))
    for made in hoisted:
        assert made.value is not None
        wraps.append(_times(module, made.value, LOG2E, bare=True))
    for node in (n for g in groups for n in g.inserts):
        wraps.append(_times(module, node, LOG2E, bare=isinstance(analysis.flow.parents[node], ast.Assign)))
    for use in converted:
        wraps.append(_times(module, use, LN2, bare=_is_argument(analysis, use)))
    for sink in (s for g in groups for s in g.sinks):
        start, end = source.span(sink.func)
        if (
            isinstance(sink.func, ast.Attribute)
            and sink.func.attr == "exp"
            and not is_wrapper(module, analysis.flow, sink)
        ):
            edits.append(Edit(end - len("exp"), end, "exp2"))
        else:
            language = language_name(module, kernel)
            if language is None:
                raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
            edits.append(Edit(start, end, f"{language}.exp2"))
    return wrap_edits(wraps, edits)


def _set_once(made: Definition, factors: list[ast.expr]) -> bool:
    """True where a name is set by a plain assignment and every use of it is one of the factors."""
    statement = made.statement
    single = isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.targets[0] is made.node
    return made.kind == "assign" and single and not made.feeds and all(any(u is f for f in factors) for u in made.uses)


def _is_argument(analysis: ExponentAnalysis, node: ast.expr) -> bool:
    """True where an expression stands alone, as an argument or a value, so that a product needs no brackets."""
    parent = analysis.flow.parents[node]
    return isinstance(parent, (ast.Call, ast.keyword, ast.Assign, ast.Return)) and not (
        isinstance(parent, ast.Call) and parent.func is node
    )


def _times(module: Module, node: ast.expr, number: str, *, bare: bool) -> Wrap:
    """`node` becomes `(node * number)`, without the outer brackets where `bare`."""
    start, end = bracketed_span(module.source, node)
    inner = is_atom(node) or (start, end) != module.source.span(node) or _is_product(node)
    before = ("" if bare else "(") + ("" if inner else "(")
    after = ("" if inner else ")") + f" * {number}" + ("" if bare else ")")
    return Wrap(start, end, before, after)


def _is_product(node: ast.expr) -> bool:
    """Products and negations take another factor on the right as they stand."""
    return (isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd))) or (
        isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div))
    )


PRIMITIVE = Primitive("exp_to_exp2", exp_to_exp2, NumericsClass.APPROXIMATE)
