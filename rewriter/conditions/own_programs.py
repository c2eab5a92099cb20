"""Which programs a kernel asks for: every program id must be seen before programs may be numbered anew."""

from __future__ import annotations

import ast

from ..analysis.helpers import asks_in_helper, axis_of, program_calls, unknown_call
from ..kernel.definition import KernelDef, Module
from ..reasons import refuse


def program_ids(module: Module, kernel: KernelDef) -> list[tuple[ast.Call, int]]:
    """Calls of `program_id`, with their axes. Raises Refuse(grid_barrier, opaque_call, unknown_construct)."""
    found = []
    for call, name in program_calls(module, kernel):
        axis = axis_of(call)
        if name == "num_programs":
            raise refuse("grid_barrier", call, axis="the grid")
        if axis is None:
            raise refuse("unknown_construct", call, construct="a program id of an axis that is no literal")
        found.append((call, axis))
    require_asked_itself(module, kernel)
    return found


def require_asked_itself(module: Module, kernel: KernelDef) -> None:
    """Nothing that the kernel calls may ask for the program. Raises Refuse(opaque_call, unknown_construct)."""
    unknown = unknown_call(module, kernel)
    if unknown is not None:
        raise refuse("opaque_call", unknown, callee=ast.unparse(unknown.func))
    helper = asks_in_helper(module, kernel)
    if helper is not None:
        raise refuse("unknown_construct", helper, construct="a helper that reads program ids")
