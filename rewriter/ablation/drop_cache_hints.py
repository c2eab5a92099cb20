"""drop_cache_hints: loads and stores without eviction policies and cache modifiers.

rewrite:  tl.load(p, mask=m, eviction_policy="evict_first")  ->  tl.load(p, mask=m)

Numerics
    `bitwise`: a hint changes no value.

Refuses: pattern_not_found, unknown_construct (a hint by position, a comment between arguments).
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
from .base import not_there, removed_keywords

_HINTS = ("eviction_policy", "cache_modifier")
_PLACES = {"load": 5, "store": 4}
"""Arguments before the first hint."""


def drop_cache_hints(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that take every cache hint out of the kernel itself. Raises Refuse."""
    flow = flow_of(kernel.node)
    edits: list[Edit] = []
    for call in (n for n in ast.walk(kernel.node) if isinstance(n, ast.Call)):
        name = operation(module, flow, call)
        if name not in _PLACES:
            continue
        if len(call.args) > _PLACES[name]:
            raise refuse("unknown_construct", call, construct="a cache hint by position")
        hints = [k for k in call.keywords if k.arg in _HINTS and not _is_empty(k.value)]
        edits += removed_keywords(module.source, call, hints)
    if not edits:
        raise not_there(kernel, "cache_hints")
    return edits


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


PRIMITIVE = Primitive("drop_cache_hints", drop_cache_hints, NumericsClass.BITWISE)
