"""32-bit offsets that may wrap: products of a runtime index and a stride or size inside pointer arithmetic.

Each integer has a scale: COMPILE_TIME (literals, constexpr parameters, `arange`, and what is taken modulo those or
masked below them), ARGUMENT (a runtime argument, or what is bounded by one), INDEX (a program id, a loaded number, the
variable of a loop of runtime length). A product wraps if an index takes part, the other side or the index's own bound
is known at run time only, and neither side is 64 bits wide.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..kernel.definition import KernelDef, Module
from .flow import Definition, Flow
from .memory import argument
from .operators import expanded_dims, number, operand, operation
from .types import TypeAnalysis

COMPILE_TIME, ARGUMENT, INDEX = 0, 1, 2
SMALL_LITERAL = 256
"""A product with a smaller literal is taken to fit: it counts entries of a small record, not elements of a tensor."""
MAX_ROUNDS = 5
"""Rounds in which levels may still rise round a loop; a level too low only leaves a product as it is."""
WIDE_INTEGERS = frozenset({"int64", "uint64"})
_VIEWS = frozenset(
    {
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
    }
)
_ACCESSES = frozenset(
    {
        "load",
        "store",
        "atomic_add",
        "atomic_max",
        "atomic_min",
        "atomic_and",
        "atomic_or",
        "atomic_xor",
        "atomic_xchg",
        "atomic_cas",
    }
)


@dataclass(frozen=True)
class Root:
    """An expression at which an index can be widened."""

    kind: str
    """`program_id`, `decoded` (an id taken apart with // or %), `load`, `cast` (to 32 bits) or `loop`."""
    node: ast.expr


@dataclass(frozen=True)
class Scale:
    """How large an integer may be, and the indices in it."""

    level: int = COMPILE_TIME
    roots: tuple[Root, ...] = ()
    tensor: bool = False
    """True where it is a tensor on every path, not a number of Python's."""


@dataclass(frozen=True)
class Product:
    """A 32-bit product in pointer arithmetic that may wrap."""

    node: ast.BinOp
    side: ast.expr
    """The operand with the index."""
    roots: tuple[Root, ...]
    tensor: bool


class WidthAnalysis:
    """Offsets of one kernel. `assumed`: expressions taken to be cast to int64 already."""

    def __init__(
        self, module: Module, kernel: KernelDef, flow: Flow, assumed: frozenset[ast.expr] = frozenset()
    ) -> None:
        self.module, self.kernel, self.flow, self.assumed = module, kernel, flow, assumed
        self.types = TypeAnalysis(module, kernel, flow)
        self._wide: dict[Definition, bool] = {}
        self._table: dict[Definition, Scale] = {}
        self._scales: dict[ast.expr, Scale] = {}
        for _ in range(MAX_ROUNDS):
            before = dict(self._table)
            for made in flow.definitions:
                self._scales.clear()
                self._table[made] = self._bounded(made)
            if self._table == before:
                break
        self._scales.clear()

    def narrow_products(self) -> list[Product]:
        """The products that may wrap, in source order, inner ones before those they are factors of."""
        found: dict[ast.BinOp, Product] = {}
        seen: set[ast.AST | Definition] = set()
        for node in ast.walk(self.kernel.node):
            if isinstance(node, ast.Call) and operation(self.module, self.flow, node) in _ACCESSES | {"make_block_ptr"}:
                pointer = operand(
                    self.module, self.flow, node, 0, "base" if "block" in ast.unparse(node.func) else "pointer"
                )
                if pointer is not None:
                    self._visit(pointer, found, seen)
        return sorted(
            found.values(), key=lambda p: (p.node.lineno, p.node.col_offset, p.node.end_lineno, p.node.end_col_offset)
        )

    def _visit(self, node: ast.expr, found: dict[ast.BinOp, Product], seen: set[ast.AST | Definition]) -> None:
        """Collect products backward through the arithmetic of a pointer."""
        if node in seen:
            return
        seen.add(node)
        view = expanded_dims(node)
        if view is not None:
            self._visit(view[0], found, seen)
            return
        match node:
            case ast.Name() if (made := self.flow.reaching.get(node)) is not None:
                self._visit_definition(made, found, seen)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, (ast.Add, ast.Sub, ast.Mult)):
                product = self._product(node) if isinstance(op, ast.Mult) else None
                if product is not None:
                    found[node] = product
                self._visit(left, found, seen)
                self._visit(right, found, seen)
            case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod()):
                self._visit(left, found, seen)
            case ast.UnaryOp(operand=inner):
                self._visit(inner, found, seen)
            case ast.Call():
                name = operation(self.module, self.flow, node)
                parts: list[ast.expr | None] = []
                if name in _VIEWS or name in ("to", "cast", "make_block_ptr", "advance"):
                    parts = [operand(self.module, self.flow, node, 0, "input")]
                elif name == "where":
                    parts = [operand(self.module, self.flow, node, i, n) for i, n in ((1, "x"), (2, "y"))]
                elif name in ("minimum", "maximum"):
                    parts = [operand(self.module, self.flow, node, i, n) for i, n in ((0, "x"), (1, "y"))]
                for part in parts:
                    if part is not None:
                        self._visit(part, found, seen)
            case _:
                return

    def _visit_definition(
        self, made: Definition, found: dict[ast.BinOp, Product], seen: set[ast.AST | Definition]
    ) -> None:
        if made in seen:
            return
        seen.add(made)
        if made.kind in ("assign", "augmented") and made.value is not None:
            self._visit(made.value, found, seen)
        for source in made.sources:
            self._visit_definition(source, found, seen)

    def _product(self, node: ast.BinOp) -> Product | None:
        if self.is_wide(node.left) or self.is_wide(node.right) or self._is_masked_tile(node):
            return None
        left, right = self.scale(node.left), self.scale(node.right)
        if not (left.roots or right.roots) or max(left.level, right.level) < ARGUMENT or self._is_small(node):
            return None
        side, scale = (
            (node.left, left)
            if (bool(left.roots), left.level) >= (bool(right.roots), right.level)
            else (node.right, right)
        )
        return Product(node, side, (*scale.roots, *(right if side is node.left else left).roots), scale.tensor)

    def _is_small(self, node: ast.BinOp) -> bool:
        """A literal factor of an index, as in `pairs + 2 * i`: no stride and no size."""
        values = [number(self.module, self.flow, side) for side in (node.left, node.right)]
        return any(value is not None and abs(value) < SMALL_LITERAL for value in values)

    def _is_masked_tile(self, node: ast.BinOp) -> bool:
        """`i * N + arange(0, N)` that a comparison bounds: the sum stays below a length, and so does the product."""
        child: ast.expr = node
        parent = self.flow.parents[node]
        while (
            isinstance(parent, ast.Attribute)
            and isinstance(call := self.flow.parents[parent], ast.Call)
            and call.func is parent
        ):
            child, parent = call, self.flow.parents[call]
        if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, ast.Add):
            return False
        other = parent.right if parent.left is child else parent.left
        while (view := expanded_dims(other)) is not None:
            other = view[0]
        made = self.flow.definition(other)
        lanes = made.value if made is not None and made.kind == "assign" and made.value is not None else other
        if not isinstance(lanes, ast.Call) or operation(self.module, self.flow, lanes) != "arange":
            return False
        size = argument(lanes, 1, "end")
        if size is None or ast.unparse(size) not in (ast.unparse(node.left), ast.unparse(node.right)):
            return False
        target = self.flow.parents[parent]
        if isinstance(target, ast.Assign) and len(target.targets) == 1 and isinstance(target.targets[0], ast.Name):
            return self._limit(self.flow.stored[target.targets[0]]) is not None
        return False

    def is_wide(self, node: ast.expr) -> bool:
        """True where it is proved to be a 64-bit integer, or arithmetic that one takes part in."""
        if node in self.assumed:
            return True
        types = self.types.of(node)
        if types is not None and types <= WIDE_INTEGERS:
            return bool(types)
        view = expanded_dims(node)
        if view is not None:
            return self.is_wide(view[0])
        match node:
            case ast.Name():
                made = self.flow.reaching.get(node)
                return made is not None and self.is_wide_definition(made)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Mod(), right=right):
                return self.is_wide(left) or self.is_wide(right)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return self.is_wide(inner)
            case ast.Call():
                name = operation(self.module, self.flow, node)
                if name in _VIEWS:
                    first = operand(self.module, self.flow, node, 0, "input")
                    return first is not None and self.is_wide(first)
                places = {
                    "where": ((1, "x"), (2, "y")),
                    "minimum": ((0, "x"), (1, "y")),
                    "maximum": ((0, "x"), (1, "y")),
                }.get(name or "", ())
                return any(
                    p is not None and self.is_wide(p)
                    for p in (operand(self.module, self.flow, node, i, n) for i, n in places)
                )
            case _:
                return False

    def is_wide_definition(self, made: Definition) -> bool:
        """True where a name is proved to be a 64-bit integer; a carried one keeps the type it enters the loop with."""
        if made not in self._wide:
            self._wide[made] = False
            match made.kind:
                case "assign" if made.value is not None:
                    self._wide[made] = self.is_wide(made.value)
                case "augmented" if made.value is not None:
                    self._wide[made] = self.is_wide(made.value) or any(self.is_wide_definition(s) for s in made.sources)
                case "loop":
                    arguments = made.value.args if isinstance(made.value, ast.Call) else []
                    self._wide[made] = any(self.is_wide(a) for a in arguments)
                case "join":
                    self._wide[made] = all(self.is_wide_definition(s) for s in made.sources)
                case "carry":
                    self._wide[made] = self.is_wide_definition(made.sources[0])
                case "parameter" if isinstance(made.node, ast.arg) and made.node.annotation is not None:
                    self._wide[made] = self.module.names.triton_name(made.node.annotation) in WIDE_INTEGERS
                case _:
                    pass
        return self._wide[made]

    # -- scales ----------------------------------------------------------------------------------------------------

    def scale(self, node: ast.expr) -> Scale:
        """How large an integer expression may be."""
        if node not in self._scales:
            found = self._scale(node)
            self._scales[node] = Scale(found.level, (), True) if node in self.assumed else found
        return self._scales[node]

    def _scale(self, node: ast.expr) -> Scale:
        if number(self.module, self.flow, node) is not None:
            return Scale()
        view = expanded_dims(node)
        if view is not None:
            return self.scale(view[0])
        match node:
            case ast.Name():
                made = self.flow.reaching.get(node)
                found = self._table.get(made, Scale()) if made is not None else Scale()
                if made is not None and made.kind == "loop" and found.level > COMPILE_TIME:
                    return Scale(found.level, (Root("loop", node),), True)
                return found
            case ast.BinOp(left=left, op=op, right=right):
                return self._arithmetic(node, self.scale(left), op, self.scale(right))
            case ast.UnaryOp(operand=inner):
                return self.scale(inner)
            case ast.IfExp(body=body, orelse=other):
                return _either([self.scale(body), self.scale(other)])
            case ast.Call():
                return self._call(node)
            case _:
                return Scale()

    def _arithmetic(self, node: ast.BinOp, a: Scale, op: ast.operator, b: Scale) -> Scale:
        if isinstance(op, (ast.Mod, ast.FloorDiv)) and a.roots:
            return Scale(b.level if isinstance(op, ast.Mod) else a.level, (Root("decoded", node),), a.tensor)
        roots = tuple(dict.fromkeys((*a.roots, *b.roots)))
        return Scale(max(a.level, b.level), roots, a.tensor or b.tensor)

    def _bounded(self, made: Definition) -> Scale:
        found, limit = self._made(made), self._limit(made)
        return Scale(min(found.level, limit), found.roots, found.tensor) if limit is not None else found

    def _made(self, made: Definition) -> Scale:
        match made.kind:
            case "parameter":
                return Scale(COMPILE_TIME if made.name in self.kernel.constexprs else ARGUMENT)
            case "assign" if made.value is not None:
                return self.scale(made.value)
            case "loop":
                return self._loop(made)
            case "augmented" if made.value is not None and made.sources:
                old, new = self._table.get(made.sources[0], Scale()), self.scale(made.value)
                return Scale(
                    max(old.level, new.level), tuple(dict.fromkeys((*old.roots, *new.roots))), old.tensor or new.tensor
                )
            case "join" | "carry":
                return _either([self._table.get(s, Scale()) for s in made.sources])
            case _:
                return Scale()

    def _loop(self, made: Definition) -> Scale:
        iterator = made.value
        if not isinstance(iterator, ast.Call):
            return Scale()
        name = operation(self.module, self.flow, iterator) or (
            iterator.func.id if isinstance(iterator.func, ast.Name) else None
        )
        if name != "range":
            return Scale()
        levels = [self.scale(a).level for a in iterator.args]
        if max(levels, default=COMPILE_TIME) == COMPILE_TIME:
            return Scale(COMPILE_TIME, (), True)
        # The root is each use of the variable: a range has nothing to cast.
        return Scale(INDEX, (), True)

    def _limit(self, made: Definition) -> int | None:
        """Scale of what a comparison bounds the name by, anywhere in the kernel; None where nothing does."""
        limits = []
        for use in made.uses:
            child: ast.expr = use
            parent = self.flow.parents[use]
            while isinstance(parent, ast.Subscript) and expanded_dims(parent) is not None:
                child, parent = parent, self.flow.parents[parent]
            if isinstance(parent, ast.Compare) and len(parent.ops) == 1:
                other = parent.comparators[0] if parent.left is child else parent.left
                upper = isinstance(parent.ops[0], (ast.Lt, ast.LtE, ast.GtE, ast.Gt))
                below = isinstance(parent.ops[0], (ast.Lt, ast.LtE)) == (parent.left is child)
                leaves = isinstance(self.flow.parents[parent], ast.If) and not below
                if upper and (below or leaves):
                    limits.append(self.scale(other).level)
        return min(limits) if limits else None

    def _call(self, node: ast.Call) -> Scale:
        name = operation(self.module, self.flow, node)
        first = operand(self.module, self.flow, node, 0, "input")
        if name == "program_id":
            return Scale(INDEX, (Root("program_id", node),), True)
        if name == "load":
            return Scale(INDEX, (Root("load", node),), True)
        if name == "num_programs":
            return Scale(ARGUMENT, (), True)
        if name == "arange":
            return Scale(COMPILE_TIME, (), True)
        if name in ("to", "cast") and first is not None:
            inner = self.scale(first)
            if self.is_wide(node):
                return Scale(inner.level, (), True)  # where paths meet, the other one may still need it
            return Scale(inner.level, (Root("cast", node),), True) if inner.roots else inner
        if name in _VIEWS and first is not None:
            return self.scale(first)
        if name in ("minimum", "maximum", "where") and first is not None:
            places = ((1, "x"), (2, "y")) if name == "where" else ((0, "x"), (1, "y"))
            parts = [self.scale(p) for i, n in places if (p := operand(self.module, self.flow, node, i, n)) is not None]
            found = _either(parts)
            least = min((p.level for p in parts), default=INDEX)
            return Scale(least if name == "minimum" else found.level, found.roots, True)
        if name in ("sum", "max", "min", "cdiv") and first is not None:
            return self.scale(first)
        return Scale()


def _either(parts: list[Scale]) -> Scale:
    roots = tuple(dict.fromkeys(r for p in parts for r in p.roots))
    return Scale(max((p.level for p in parts), default=COMPILE_TIME), roots, all(p.tensor for p in parts))
