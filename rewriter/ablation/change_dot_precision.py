"""change_dot_precision: products for which the author named a precision are made in another one.

rewrite:  tl.dot(a, b, input_precision="tf32x3")  ->  tl.dot(a, b, input_precision="tf32")
          tl.dot(a, b, allow_tf32=False)          ->  tl.dot(a, b, input_precision="tf32")

Numerics
    `dtype_changed` for tf32, whose operands keep 10 bits; `approximate` for the others.

Refuses: pattern_not_found, already_applied (every named precision is that one), bad_setting.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..analysis.flow import flow_of
from ..analysis.operators import operation
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..primitives.base import Primitive
from ..reasons import refuse
from .base import not_there

PRECISIONS = ("tf32", "tf32x3", "ieee")


def change_dot_precision(module: Module, kernel: KernelDef, precision: str) -> list[Edit]:
    """Edits that make every product with a named precision in `precision`. Raises Refuse."""
    if precision not in PRECISIONS:
        raise refuse("bad_setting", kernel.node, setting="precision", value=precision, why=f"it is one of {PRECISIONS}")
    flow = flow_of(kernel.node)
    dots = [n for n in ast.walk(kernel.node) if isinstance(n, ast.Call) and operation(module, flow, n) == "dot"]
    named = [k for dot in dots for k in dot.keywords if k.arg in ("input_precision", "allow_tf32")]
    if not named:
        raise not_there(kernel, "dot_tf32x3")
    other = [k for k in named if not _is(k, precision)]
    if not other:
        raise refuse("already_applied", named[0].value, kernel=kernel.name, skeleton=precision)
    return [Edit(*module.source.span(k), f'input_precision="{precision}"') for k in other]


def _is(keyword: ast.keyword, precision: str) -> bool:
    """True where the keyword says that precision already. `allow_tf32` is another way to say ieee or tf32."""
    if not isinstance(keyword.value, ast.Constant):
        return False
    if keyword.arg == "allow_tf32":
        return precision == ("tf32" if keyword.value.value else "ieee")
    return keyword.value.value == precision


PRIMITIVE = Primitive("change_dot_precision", change_dot_precision, NumericsClass.DTYPE_CHANGED, ("precision",))
