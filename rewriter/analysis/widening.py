"""What follows when an integer becomes 64 bits wide: where the change arrives, and whether Triton accepts it there."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ..kernel.definition import KernelDef, Module
from .flow import Definition, Flow
from .operators import expanded_dims, operand, operation
from .syntax import is_constexpr_test
from .widths import WidthAnalysis

_CARRIES_ON = frozenset(
    {
        "maximum",
        "minimum",
        "cdiv",
        "expand_dims",
        "broadcast_to",
        "reshape",
        "view",
        "trans",
        "permute",
        "ravel",
        "multiple_of",
        "max_contiguous",
        "max_constancy",
        "sum",
        "max",
        "min",
        "abs",
        "range",
    }
)
_SAFE_CALLS = frozenset({"to", "cast", "device_assert", "assume", "device_print", "full"})
_MEMORY = frozenset({"load", "store", "atomic_add", "atomic_max", "atomic_min", "atomic_xchg"})
_INTEGERS = frozenset({"int8", "int16", "int32", "int64"})
_WRAPPING = (ast.Add, ast.Sub, ast.Mult)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Div)


@dataclass
class Spread:
    """Where a widening arrives."""

    nodes: set[ast.expr] = field(default_factory=set)
    definitions: set[Definition] = field(default_factory=set)
    trouble: ast.AST | None = None
    """The first place where the wider type may not be accepted."""


class WideningAnalysis:
    """Forward analysis of one kernel."""

    def __init__(self, module: Module, kernel: KernelDef, flow: Flow, widths: WidthAnalysis) -> None:
        self.module, self.kernel, self.flow, self.widths = module, kernel, flow, widths
        self._pointers: dict[Definition, bool] = {}

    def spread(self, node: ast.expr) -> Spread:
        """Everything that changes its type when the value of `node` becomes int64."""
        found = Spread()
        self._value(node, found)
        for made in found.definitions:
            if made.kind in ("join", "carry") and not self._accepts(made, found):
                found.trouble = found.trouble or made.node
        return found

    def _accepts(self, made: Definition, found: Spread) -> bool:
        """True where every way into a merged name has the wider type, or only one of them is ever compiled."""
        if isinstance(made.node, ast.If) and is_constexpr_test(made.node.test, self.kernel.constexprs):
            return True
        return all(s in found.definitions or s is made or self.widths.is_wide_definition(s) for s in made.sources)

    def _value(self, node: ast.expr, found: Spread) -> None:
        """The value of an expression is wider: follow it into what uses it."""
        while True:
            if node in found.nodes:
                return
            found.nodes.add(node)
            if self.is_pointer(node):
                # Adding a wider offset leaves a pointer a pointer.
                return
            parent = self.flow.parents[node]
            step = self._step(node, parent, found)
            if step is None:
                return
            node = step

    def _step(self, node: ast.expr, parent: ast.AST, found: Spread) -> ast.expr | None:
        """The expression around that is wider too; None where the change ends."""
        match parent:
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()) | ast.Expr():
                return None
            case ast.BinOp(op=op):
                if isinstance(op, _ARITHMETIC):
                    return parent
            case ast.UnaryOp(op=ast.USub()):
                return parent
            case ast.Subscript(value=value) if value is node and expanded_dims(parent) is not None:
                return parent
            case ast.Attribute(value=value) if value is node:
                outer = self.flow.parents[parent]
                if isinstance(outer, ast.Call) and outer.func is parent:
                    return self._call(node, outer, 0, None, found)
                if parent.attr in ("dtype", "shape"):
                    return self._fail(parent, found)
            case ast.Call(args=args):
                if node in args:
                    return self._call(node, parent, args.index(node), None, found)
            case ast.keyword():
                call = self.flow.parents[parent]
                if isinstance(call, ast.Call):
                    return self._call(node, call, None, parent.arg, found)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self._assigned(node, parent, found)
                return None
            case ast.Tuple() | ast.List():
                outer = self.flow.parents[parent]
                if isinstance(outer, ast.Assign) and outer.value is parent:
                    self._assigned(node, outer, found)
                    return None
            case ast.If(test=test) | ast.While(test=test):
                if test is node:
                    return None
            case _:
                pass
        return self._fail(parent, found)

    @staticmethod
    def _fail(node: ast.AST, found: Spread) -> ast.expr | None:
        """The change ends here, in trouble."""
        found.trouble = found.trouble or node
        return None

    def _call(
        self, node: ast.expr, call: ast.Call, position: int | None, keyword: str | None, found: Spread
    ) -> ast.expr | None:
        name = operation(self.module, self.flow, call)
        if name is None and isinstance(call.func, ast.Name) and call.func.id in ("range", "min", "max"):
            name = {"range": "range", "min": "minimum", "max": "maximum"}[call.func.id]
        if name == "range":
            loop = self.flow.parents[call]
            for made in self.flow.definitions:
                if made.kind == "loop" and made.node is not None and made.statement is loop:
                    self._definition(made, found)
            return None
        if name in _MEMORY:
            # The pointer, the mask and what is stored are cast as needed; a load's `other` too.
            if keyword not in (None, "pointer", "mask", "other", "value", "val"):
                return self._fail(call, found)
            stored = keyword in ("value", "val") or (position == 1 and name != "load")
            return self._fail(call, found) if stored and self._is_computed(node, found) else None
        if name == "make_block_ptr":
            return None if position in (0, 1, 2) or keyword in ("base", "shape", "strides") else self._fail(call, found)
        if name in ("to", "cast") and not self._casts_alike(call, node, found):
            return self._fail(call, found)
        if name in _SAFE_CALLS:
            return None
        if name in _CARRIES_ON:
            return call
        if name == "where":
            return None if position == 0 or keyword == "condition" else call
        return self._fail(call, found)

    def _casts_alike(self, call: ast.Call, node: ast.expr, found: Spread) -> bool:
        """True for a cast that gives the same of 64 bits: of a value as it came, or to an integer, never of bits."""
        if any(k.arg == "bitcast" for k in call.keywords):
            return False
        kind = self.widths.types.dtype(operand(self.module, self.flow, call, 1, "dtype"))
        return (kind is not None and kind <= _INTEGERS) or not self._is_computed(node, found)

    def _is_computed(self, node: ast.expr, found: Spread, depth: int = 16) -> bool:
        """True where a sum or product that becomes wider is in the value: what wrapped in 32 bits, as a hash or an
        unsigned difference may on purpose, would not."""
        for n in ast.walk(node):
            if isinstance(n, ast.BinOp) and isinstance(n.op, _WRAPPING) and n in found.nodes:
                return True
            made = self.flow.definition(n) if isinstance(n, ast.Name) and n in found.nodes else None
            if made is not None and (depth == 0 or self._was_computed(made, found, depth - 1)):
                return True
        return False

    def _was_computed(self, made: Definition, found: Spread, depth: int) -> bool:
        if made.kind in ("augmented", "carry", "loop"):
            return made.kind != "loop"
        if made.kind == "join":
            return any(depth == 0 or self._was_computed(s, found, depth - 1) for s in made.sources)
        return made.value is not None and self._is_computed(made.value, found, depth)

    def _assigned(self, node: ast.expr, statement: ast.Assign | ast.AnnAssign | ast.AugAssign, found: Spread) -> None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in (n for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)):
            made = self.flow.stored.get(target)
            if made is not None and made.kind in ("assign", "augmented") and made.value is node:
                self._definition(made, found)
            elif made is not None and made.kind == "unpack":
                self._fail(statement, found)

    def _definition(self, made: Definition, found: Spread) -> None:
        if made in found.definitions or self._is_pointer(made):
            return
        found.definitions.add(made)
        for use in made.uses:
            self._value(use, found)
        for fed in made.feeds:
            self._definition(fed, found)

    # -- pointers --------------------------------------------------------------------------------------------------

    def is_pointer(self, node: ast.expr) -> bool:
        """True where an expression is proved to be a pointer, not an offset."""
        view = expanded_dims(node)
        if view is not None:
            return self.is_pointer(view[0])
        match node:
            case ast.Name():
                made = self.flow.reaching.get(node)
                return made is not None and self._is_pointer(made)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                return self.is_pointer(left) or self.is_pointer(right)
            case ast.Call():
                name = operation(self.module, self.flow, node)
                return name == "make_block_ptr" or (
                    name in _CARRIES_ON and bool(node.args) and self.is_pointer(node.args[0])
                )
            case _:
                return False

    def _is_pointer(self, made: Definition) -> bool:
        if made not in self._pointers:
            self._pointers[made] = False
            self._pointers[made] = self._points(made)
        return self._pointers[made]

    def _points(self, made: Definition) -> bool:
        if any(self._is_address(use) for use in made.uses):
            return True
        match made.kind:
            case "parameter":
                return made.name not in self.kernel.constexprs and self._is_base(made)
            case "assign":
                return made.value is not None and self.is_pointer(made.value)
            case _:
                return any(self._is_pointer(s) for s in made.sources)

    def _is_address(self, use: ast.Name) -> bool:
        """True where the name alone is what a load or store is given."""
        call = self.flow.parents[use]
        return (
            isinstance(call, ast.Call)
            and bool(call.args)
            and call.args[0] is use
            and operation(self.module, self.flow, call) in _MEMORY | {"make_block_ptr"}
        )

    def _is_base(self, made: Definition) -> bool:
        """True for an argument with nothing but sums made of it, the leftmost of them: `x + offset`, `x += offset`."""
        places = []
        for use in made.uses:
            parent = self.flow.parents[use]
            if isinstance(parent, ast.Attribute):
                continue
            places.append(isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add) and parent.left is use)
        places += [True for fed in made.feeds if fed.kind == "augmented"]
        return bool(places) and all(places)
