"""rsqrt_to_division: reciprocal square roots back to a square root and a division.

rewrite:  y = x * tl.rsqrt(v)  ->  y = x / tl.sqrt(v)
          r = tl.rsqrt(v)      ->  r = (1.0 / tl.sqrt(v))

Numerics
    `approximate`: a unit or two in the last place.

Refuses: pattern_not_found, unknown_construct (no name for triton.language).
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..analysis.flow import flow_of
from ..analysis.operators import is_method, is_wrapper, operation
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.text import operator_span
from ..primitives.base import Primitive
from ..primitives.names import language_name
from ..reasons import refuse
from .base import not_there

_NAMES = ("rsqrt", "math.rsqrt", "extra.libdevice.rsqrt", "extra.cuda.libdevice.rsqrt")


def rsqrt_to_division(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that put every reciprocal square root of the kernel itself back. Raises Refuse."""
    flow = flow_of(kernel.node)
    source = module.source
    calls = [n for n in ast.walk(kernel.node) if isinstance(n, ast.Call) and operation(module, flow, n) in _NAMES]
    if not calls:
        raise not_there(kernel, "div_to_reciprocal")
    language = language_name(module, kernel)
    if language is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    edits: list[Edit] = []
    for call in calls:
        if is_method(module, flow, call) or is_wrapper(module, flow, call):
            raise refuse("unknown_construct", call, construct="a reciprocal square root by a method or a helper")
        start, end = source.span(call.func)
        parent = flow.parents.get(call)
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult) and parent.right is call:
            edits += [Edit(*operator_span(source, parent, "*"), "/"), Edit(start, end, f"{language}.sqrt")]
        else:
            closing = source.span(call)[1]
            edits += [Edit(start, end, f"(1.0 / {language}.sqrt"), Edit(closing, closing, ")")]
    return edits


PRIMITIVE = Primitive("rsqrt_to_division", rsqrt_to_division, NumericsClass.APPROXIMATE)
