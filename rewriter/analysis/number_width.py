"""Whether it matters beside a value that a number is one of Python's: those take the type of what they meet, while a
run-time argument is 32 bits wide at least and widens an int8 or int16."""

from __future__ import annotations

import ast

from ..kernel.definition import KernelDef, Module
from .flow import Definition, Flow
from .operations import FLOATS
from .operators import operation
from .types import TypeAnalysis, Types
from .widening import WideningAnalysis
from .widths import WidthAnalysis

_SAME = FLOATS | {"int32", "int64", "uint32", "uint64", "int1", "int", "float"}
_APART = frozenset(
    {
        *("range", "static_range", "arange", "zeros", "full", "load", "store", "program_id", "cdiv", "cast", "to"),
        *("assume", "device_assert", "static_assert", "device_print", "static_print", "multiple_of", "max_contiguous"),
        *("make_block_ptr", "advance", "expand_dims", "broadcast_to", "reshape", "view"),
    }
)
"""Language functions that do not bring their arguments to one type."""


class NumberWidth:
    """Asks of the expressions of one kernel."""

    def __init__(self, module: Module, kernel: KernelDef, flow: Flow) -> None:
        self.module, self.kernel, self.flow = module, kernel, flow
        self.types = TypeAnalysis(module, kernel, flow)
        self.pointers = WideningAnalysis(module, kernel, flow, WidthAnalysis(module, kernel, flow))

    def is_kept(self, node: ast.expr) -> bool:
        """True where the value is 32 bits wide or more, no integer, or a pointer."""
        return self.pointers.is_pointer(node) or self._is_wide(self.types.of(node)) or self._is_argument(node)

    def is_kept_by(self, statement: ast.AugAssign) -> bool:
        """The same of what the statement updates."""
        made = self.flow.stored.get(statement.target) if isinstance(statement.target, ast.Name) else None
        sources = made.sources if made is not None else []
        return bool(sources) and all(self._was_kept(s) for s in sources)

    def is_kept_in(self, call: ast.Call, number: ast.expr) -> bool:
        """The same of every other argument of a call that brings them to one type."""
        name = operation(self.module, self.flow, call)
        if name in _APART or (isinstance(call.func, ast.Name) and call.func.id in ("range", "min", "max")):
            return True
        given = [*call.args, *(k.value for k in call.keywords)]
        if isinstance(call.func, ast.Attribute) and self.module.names.dotted(call.func) is None:
            given.append(call.func.value)
        inside = {n for n in ast.walk(call) if any(d is number for d in ast.walk(n))}
        return all(self.is_kept(a) for a in given if a not in inside)

    def _was_kept(self, made: Definition) -> bool:
        if self._is_wide(self.types.definition(made)) or any(self.pointers.is_pointer(u) for u in made.uses):
            return True
        return made.value is not None and made.kind == "assign" and self.is_kept(made.value)

    @staticmethod
    def _is_wide(types: Types) -> bool:
        return types is not None and types <= _SAME

    def _is_argument(self, node: ast.expr) -> bool:
        """A run-time argument is a pointer or 32 bits wide."""
        made = self.flow.definition(node)
        return made is not None and made.kind == "parameter" and self.kernel.is_entry
