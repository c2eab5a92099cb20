"""drop_pipelining: loops that ask for pipeline stages ask for one, which is none.

rewrite:  for t in tl.range(0, T, num_stages=3):  ->  for t in tl.range(0, T, num_stages=1):

What a launch or a configuration says of stages is set at the launch and not here.

Numerics
    `bitwise`: loads are issued later.

Refuses: pattern_not_found, already_applied (one stage already).
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


def drop_pipelining(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that give every loop of the kernel that names stages a single one. Raises Refuse."""
    flow = flow_of(kernel.node)
    loops = [n for n in ast.walk(kernel.node) if isinstance(n, ast.Call) and operation(module, flow, n) == "range"]
    stages = [k.value for loop in loops for k in loop.keywords if k.arg == "num_stages"]
    if not stages:
        raise not_there(kernel, "pipeline_loads")
    deep = [value for value in stages if not (isinstance(value, ast.Constant) and value.value in (0, 1, None))]
    if not deep:
        raise refuse("already_applied", stages[0], kernel=kernel.name, skeleton="a single stage")
    return [Edit(*module.source.span(value), "1") for value in deep]


PRIMITIVE = Primitive("drop_pipelining", drop_pipelining, NumericsClass.BITWISE)
