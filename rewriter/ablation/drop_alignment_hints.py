"""drop_alignment_hints: nothing is said of alignment, contiguity or ranges any more.

rewrite:  o = tl.max_contiguous(tl.multiple_of(p, 16), 16)  ->  o = p
          tl.assume(stride > 0)                            ->  pass

Numerics
    `bitwise`: a hint that is right changes no value.

Refuses: pattern_not_found, unknown_construct.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..analysis.flow import flow_of
from ..analysis.operators import is_method, operation
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..primitives.base import Primitive
from ..reasons import refuse
from .base import not_there

_HINTS = ("multiple_of", "max_contiguous", "max_constancy")


def drop_alignment_hints(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that take every such hint out of the kernel itself. Raises Refuse."""
    flow, source = flow_of(kernel.node), module.source
    edits: list[Edit] = []
    for call in (n for n in ast.walk(kernel.node) if isinstance(n, ast.Call)):
        name = operation(module, flow, call)
        if name in _HINTS and not is_method(module, flow, call):
            if not call.args:
                raise refuse("unknown_construct", call, construct="a hint whose value is a keyword")
            (start, end), (first, last) = source.span(call), source.span(call.args[0])
            # The brackets keep an expression in one piece, also over several lines.
            edits += [Edit(start, first, "("), Edit(last, end, ")")]
        elif name == "assume" and isinstance(statement := flow.parents.get(call), ast.Expr):
            edits.append(Edit(*source.span(statement), "pass"))
    if not edits:
        raise not_there(kernel, "alignment_hints")
    return edits


PRIMITIVE = Primitive("drop_alignment_hints", drop_alignment_hints, NumericsClass.BITWISE)
