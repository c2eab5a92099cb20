"""What would become a compile-time number if a run-time parameter were one, and what forbids it.

Triton tells the two apart: a constexpr has no methods, cannot be carried round a loop or set in one arm of a run-time
branch, and arithmetic between constexprs is Python's. Followed are copies, and what is computed of nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..kernel.definition import KernelDef, Module
from ..reasons import Refuse, refuse
from .facts import Facts
from .flow import Definition, Flow
from .number_width import NumberWidth
from .operators import callee_of, is_method, operation

_EXACT = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_ARITHMETIC = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp)
_STATEMENTS = (ast.If, ast.While, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Tuple)
_NARROW = "meets a value with it that may be narrower than 32 bits"
_LARGE = 1 << 15
_WIDE = frozenset({"int64", "uint64", "i64", "u64"})


def _is_large(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and abs(node.value) >= _LARGE


def require_constant(facts: Facts, flow: Flow, name: str, value: int) -> None:
    """Raises Refuse(runtime_needed) where the kernel would not compile, or compute the same, with the constant."""
    _Checker(facts, flow, name, value).run()


class _Checker:
    def __init__(self, facts: Facts, flow: Flow, name: str, value: int) -> None:
        self.module: Module = facts.module
        self.kernel: KernelDef = facts.kernel
        self.facts, self.flow, self.name, self.value = facts, flow, name, value
        self.fixed: set[Definition] = set()
        self.widths = NumberWidth(self.module, self.kernel, flow)
        parameter = self.kernel.parameter(name)
        annotation = parameter.node.annotation if parameter is not None else None
        # A number that is declared wide makes what it is multiplied with wide; a constexpr does not.
        self.wide = annotation is not None and not (isinstance(annotation, ast.Name) and annotation.id == "int")

    def run(self) -> None:
        pending = [d for d in self.flow.definitions if d.kind == "parameter" and d.name == self.name]
        while pending:
            made = pending.pop()
            if made in self.fixed:
                continue
            self.fixed.add(made)
            for use in made.uses:
                self._check(use)
                pending += self._made_from(use)
            for feed in made.feeds:
                pending += self._fed(made, feed)

    def _made_from(self, use: ast.Name) -> Iterator[Definition]:
        """Names assigned from an expression that would be a constant as a whole."""
        statement = self.flow.statement(use)
        for target, made in self.flow.stored.items():
            if made.statement is statement and made.value is not None and made.kind in ("assign", "unpack"):
                if use in set(ast.walk(made.value)) and self._is_fixed(made.value):
                    yield self.flow.stored[target]

    def _fed(self, made: Definition, feed: Definition) -> Iterator[Definition]:
        if feed.kind == "carry":
            raise self._refuse(feed.node, f"carries {made.name} round a loop")
        if feed.kind == "join":
            test = feed.node.test if isinstance(feed.node, ast.If) else None
            if test is None or not self._is_fixed(test):
                raise self._refuse(feed.node, f"sets {made.name} in one arm only")
            yield feed
        elif feed.kind == "augmented" and feed.value is not None and self._is_fixed(feed.value):
            yield feed

    def _is_fixed(self, node: ast.expr) -> bool:
        """True for an expression of constants alone."""
        for name in (n for n in ast.walk(node) if isinstance(n, ast.Name)):
            made = self.flow.reaching.get(name)
            if made is not None and made not in self.fixed:
                if not (made.kind == "parameter" and made.name in self.kernel.constexprs):
                    return False
        return not any(
            isinstance(n, ast.Call) and operation(self.module, self.flow, n) in ("load", "program_id", "arange")
            for n in ast.walk(node)
        )

    def _check(self, name: ast.Name, inside: ast.expr | None = None) -> None:
        use: ast.expr = inside or name
        while isinstance(parent := self.flow.parents[use], _ARITHMETIC):
            if isinstance(parent, ast.BinOp):
                self._check_arithmetic(parent, use)
            if not self._is_fixed(parent):
                return
            use = parent
        if isinstance(parent, ast.keyword):
            parent = self.flow.parents[parent]
        if isinstance(parent, ast.Call):
            callee = callee_of(self.module, self.flow, parent)
            is_language = operation(self.module, self.flow, parent) is not None
            is_range = isinstance(parent.func, ast.Name) and parent.func.id in ("range", "min", "max")
            if parent.func is use or is_method(self.module, self.flow, parent):
                raise self._refuse(parent, "calls a method with it")
            if not (is_language or is_range) or (callee is not None and callee.definitions and not is_language):
                raise self._refuse(parent, "passes it to a helper")
            if not self.widths.is_kept_in(parent, use):
                raise self._refuse(parent, _NARROW)
            if is_range and self._is_fixed(parent) and not isinstance(self.flow.parents[parent], ast.For):
                self._check(name, parent)
        elif isinstance(parent, ast.AugAssign):
            if isinstance(parent.target, ast.Name) and parent.value is use:
                made = self.flow.stored[parent.target]
                if not all(s in self.fixed for s in made.sources) and not self.widths.is_kept_by(parent):
                    raise self._refuse(parent, _NARROW)
        elif not isinstance(parent, _STATEMENTS):
            raise self._refuse(use, f"uses {name.id} otherwise than as a number")

    def _check_arithmetic(self, node: ast.BinOp, use: ast.expr) -> None:
        if not isinstance(node.op, _EXACT):
            raise self._refuse(node, "divides by it, or takes its bits")
        other = node.right if node.left is use else node.left
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            if node.right is use and self.value == 0:
                raise self._refuse(node, "divides by it")
            negative = any(isinstance(n, (ast.Sub, ast.USub)) for n in ast.walk(node.left))
            if self._is_fixed(node) and negative:
                raise self._refuse(node, "rounds a quotient that may be negative, which Python does otherwise")
        if not self._is_fixed(other) and not self.widths.is_kept(other):
            raise self._refuse(node, _NARROW)
        if self._is_fixed(node) and any(_is_large(n) for n in ast.walk(node)):
            raise self._refuse(node, "computes a large number with it, which may wrap in 32 bits")
        if self.wide and not self._is_fixed(other) and not self._is_wide(other):
            raise self._refuse(node, f"takes its width from {self.name}")

    def _is_wide(self, node: ast.expr) -> bool:
        types = {e.values[node].dtype for e in self.facts.runs if node in e.values}
        return bool(types) and all(t in _WIDE for t in types)

    def _refuse(self, where: ast.AST, why: str) -> Refuse:
        return refuse("runtime_needed", where, name=self.name, why=why)
