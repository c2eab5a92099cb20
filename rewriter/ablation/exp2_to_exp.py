"""exp2_to_exp: exponentials in base two back to the natural base, each with its own factor ln(2).

rewrite:  p = tl.exp2(s - m)  ->  p = tl.exp((s - m) * 0.6931471805599453)

The factor stands at the exponential and not where the exponent was made, since that may be another kernel. So the cost
is that of the multiplication inside `tl.exp` and of the one that undoes the author's scale: an upper bound of what
base two is worth here.

Numerics
    `approximate`: two roundings more in each exponent.

Refuses: pattern_not_found, unknown_construct (no name for triton.language).
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..analysis.flow import Flow, flow_of
from ..analysis.operators import callee_of, is_method, is_wrapper, operand, wrapped
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.text import Wrap, is_atom, wrap_edits
from ..primitives.base import Primitive
from ..primitives.exp_to_exp2 import LN2
from ..primitives.names import language_name
from ..reasons import refuse
from .base import not_there

_NAMES = frozenset({"exp2", "math.exp2", "extra.libdevice.exp2", "extra.cuda.libdevice.exp2"})


def exp2_to_exp(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that put every base-two exponential of the kernel itself back to `exp`. Raises Refuse."""
    flow = flow_of(kernel.node)
    calls = [n for n in ast.walk(kernel.node) if isinstance(n, ast.Call) and _is_exp2(module, flow, n)]
    if not calls:
        raise not_there(kernel, "exp_to_exp2")
    language = language_name(module, kernel)
    if language is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    edits: list[Edit] = []
    wraps: list[Wrap] = []
    for call in calls:
        exponent = operand(module, flow, call, 0, "x")
        if exponent is None or exponent not in call.args:
            raise refuse("unknown_construct", call, construct="an exponential that is not called with its exponent")
        start, end = module.source.span(call.func)
        edits.append(Edit(start, end, f"{language}.exp"))
        # A helper widens its argument first; without it that is done here.
        widened = f".to({language}.float32)" if is_wrapper(module, flow, call) else ""
        atom = is_atom(exponent) and not widened
        before, after = ("", "") if atom else ("(", ")")
        wraps.append(Wrap(*module.source.span(exponent), before, f"{after}{widened} * {LN2}"))
    return wrap_edits(wraps, edits)


def _is_exp2(module: Module, flow: Flow, call: ast.Call) -> bool:
    """True also for a helper that a condition defines as one or another base-two exponential."""
    callee = callee_of(module, flow, call)
    if callee is None:
        return is_method(module, flow, call) and isinstance(call.func, ast.Attribute) and call.func.attr == "exp2"
    names = {wrapped(owner, helper) for owner, helper in callee.definitions}
    if callee.triton is not None:
        names.add(callee.triton)
    return bool(names) and names <= _NAMES


PRIMITIVE = Primitive("exp2_to_exp", exp2_to_exp, NumericsClass.APPROXIMATE)
