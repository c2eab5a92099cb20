"""Which values may be plain Python numbers where a kernel is interpreted: they have no methods there.

The variable of a loop over `range` is a tensor when a kernel is compiled, and a number in the interpreter; so is what
is computed from it and from compile-time constants alone.
"""

from __future__ import annotations

import ast

from ..kernel.definition import KernelDef, Module
from .flow import Definition, Flow
from .operators import operation

_KEEP = frozenset({"cdiv", "min", "max", "next_power_of_2", "abs", "int", "minimum", "maximum"})
"""Calls that give a number for numbers."""


class PlainNumbers:
    """Asks of the expressions of one kernel. `also`: names that are to be taken for numbers."""

    def __init__(self, module: Module, kernel: KernelDef, flow: Flow, also: frozenset[str] = frozenset()) -> None:
        self.module, self.kernel, self.flow, self.also = module, kernel, flow, also
        self._active: set[Definition] = set()

    def may_be(self, node: ast.expr) -> bool:
        """True where it may be a number; False where it is a tensor for sure."""
        match node:
            case ast.Constant():
                return True
            case ast.Name():
                return node.id in self.also or self._named(self.flow.reaching.get(node))
            case ast.BinOp():
                return self.may_be(node.left) and self.may_be(node.right)
            case ast.UnaryOp():
                return self.may_be(node.operand)
            case ast.Compare():
                return self.may_be(node.left) and all(self.may_be(n) for n in node.comparators)
            case ast.BoolOp():
                return all(self.may_be(n) for n in node.values)
            case ast.IfExp():
                return self.may_be(node.body) or self.may_be(node.orelse)
            case ast.Call(func=ast.Attribute(attr="to")):
                return False
            case ast.Call():
                name = operation(self.module, self.flow, node)
                if name is None:
                    return not (isinstance(node.func, ast.Name) and node.func.id in _KEEP) or all(
                        self.may_be(n) for n in node.args
                    )
                return name in _KEEP and all(self.may_be(n) for n in node.args)
            case _:
                return True

    def _named(self, made: Definition | None) -> bool:
        if made is None or made in self._active:
            # What goes round in a loop is what it was on the way in.
            return made is None
        self._active.add(made)
        try:
            if made.kind == "parameter":
                return made.name in self.kernel.constexprs
            if made.kind == "loop":
                return True
            parts = [self._named(s) for s in made.sources]
            if made.kind == "augmented" and made.value is not None:
                return all(parts) and self.may_be(made.value)
            if made.kind in ("join", "carry"):
                return any(parts)
            return made.value is None or self.may_be(made.value)
        finally:
            self._active.discard(made)
