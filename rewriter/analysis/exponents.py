"""Exponent groups: the values that must change their unit together when `exp` becomes `exp2`.

Backward from every exponential, through what is linear (sums, differences, maxima, scans, selections, views, names and
loops), to the places where a factor log2(e) can enter: a scalar factor of a product, the scalar argument of a jit
helper that is linear in it, or, at a price, any other expression. Zero and infinity are the same in every unit.
Whatever else uses a value of the group sees the new unit, so it is converted back there.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from ..kernel.definition import KernelDef, Module
from .events import Events
from .exponent_group import Group, is_live, linear_parameters, merge, uses_after
from .flow import Definition, Flow
from .memory import argument
from .operations import INTEGERS
from .operators import callee_of, expanded_dims, is_wrapper, number, operand, operation
from .types import WIDE, TypeAnalysis

_VIEWS = frozenset(
    {
        "sum",
        "cumsum",
        "trans",
        "permute",
        "reshape",
        "view",
        "expand_dims",
        "broadcast_to",
        "ravel",
        "flip",
        "max",
        "min",
    }
)
"""Linear in their first argument, whose other arguments say only how it is laid out."""
_WIDENING = frozenset({"sum", "cumsum", "max", "min"})
_PICKS = {"where": (1, 2), "maximum": (0, 1), "minimum": (0, 1), "clamp": (0, 1, 2)}
_HARMLESS = frozenset({"dtype", "shape", "type", "numel"})


class ExponentAnalysis:
    """Groups of one kernel."""

    def __init__(self, module: Module, kernel: KernelDef, flow: Flow, events: Events) -> None:
        self.module, self.kernel, self.flow, self.events = module, kernel, flow, events
        self.types = TypeAnalysis(module, kernel, flow)

    def groups(self) -> list[Group]:
        """Every group that reaches a natural exponential of the kernel itself, in source order."""
        groups: list[Group] = []
        for sink in self.calls("exp"):
            exponent = operand(self.module, self.flow, sink, 0, "x")
            if exponent is None:
                continue
            group = Group([sink])
            wrapper = is_wrapper(self.module, self.flow, sink)
            if wrapper and not self.types.is_wide(exponent):
                group.hinder("exponent_not_scalable", sink)
            self._demand(group, exponent, not wrapper)
            merged = [g for g in groups if g.definitions & group.definitions]
            for other in merged:
                merge(group, other)
            groups = [g for g in groups if g not in merged] + [group]
        for group in groups:
            self._find_other_bases(group)
            self._find_escapes(group)
            self._weigh(group)
        return sorted(groups, key=lambda g: min(s.lineno for s in g.sinks))

    def calls(self, name: str) -> list[ast.Call]:
        """Calls of a language function in the kernel itself, in source order."""
        found = [
            n
            for n in ast.walk(self.kernel.node)
            if isinstance(n, ast.Call) and operation(self.module, self.flow, n) == name
        ]
        return sorted(found, key=lambda n: (n.lineno, n.col_offset))

    # -- backward --------------------------------------------------------------------------------------------------

    def _demand(self, group: Group, node: ast.expr, wide: bool) -> None:
        """`node` must be in the new unit. `wide`: it is known to be fp32 or fp64, because of what uses it."""
        if node in group.nodes or self.is_neutral(node):
            return
        if number(self.module, self.flow, node) is not None:
            # A finite bound or sentinel has a unit of its own.
            group.hinder("exponent_not_scalable", node)
            return
        group.nodes.add(node)
        view = expanded_dims(node)
        if view is not None:
            self._demand(group, view[0], wide)
            return
        match node:
            case ast.Name() if (made := self.flow.reaching.get(node)) is not None and made.kind not in (
                "parameter",
                "loop",
                "unpack",
            ):
                self._demand_definition(group, made, wide)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                self._demand(group, left, False)
                self._demand(group, right, False)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
                self._demand(group, inner, wide)
            case ast.Call():
                self._demand_call(group, node, wide)
            case _:
                self._source(group, node, wide)

    def _demand_call(self, group: Group, node: ast.Call, wide: bool) -> None:
        name = operation(self.module, self.flow, node)
        first = operand(self.module, self.flow, node, 0, "input")
        if (
            name in _VIEWS
            and first is not None
            and not any(k.arg in ("return_indices", "dtype") for k in node.keywords)
        ):
            # Sums and maxima may widen on their own, so that a wide result proves nothing of the operand.
            self._demand(group, first, wide and name not in _WIDENING)
        elif name in _PICKS:
            parts = [operand(self.module, self.flow, node, i, n) for i, n in self._picked(name)]
            if any(p is None for p in parts):
                group.hinder("exponent_not_scalable", node)
            for part in parts:
                if part is not None:
                    self._demand(group, part, False)
        elif name in ("to", "cast") and first is not None and self.types.is_wide(first) and self.types.is_wide(node):
            self._demand(group, first, True)
        elif name == "full" and (fill := operand(self.module, self.flow, node, 1, "value")) is not None:
            self._demand(group, fill, wide)
        else:
            self._source(group, node, wide)

    @staticmethod
    def _picked(name: str) -> list[tuple[int, str]]:
        names = {"where": ("condition", "x", "y"), "clamp": ("x", "min", "max")}.get(name, ("x", "y"))
        return [(i, names[i]) for i in _PICKS[name]]

    def _demand_definition(self, group: Group, made: Definition, wide: bool) -> None:
        if made in group.definitions:
            return
        if made.kind == "assign" and made.value is not None and self.is_neutral(made.value):
            return
        group.definitions.add(made)
        match made.kind:
            case "assign":
                assert made.value is not None
                if not self._is_plain(made):
                    group.hinder("exponent_not_scalable", made.node)
                self._demand(group, made.value, wide)
            case "augmented":
                self._demand_augmented(group, made)
            case "join" | "carry":
                for source in made.sources:
                    self._demand_definition(group, source, wide)
            case _:
                group.hinder("exponent_not_scalable", made.node)

    def _demand_augmented(self, group: Group, made: Definition) -> None:
        statement = made.statement
        assert isinstance(statement, ast.AugAssign) and made.value is not None
        if not made.sources or not isinstance(statement.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
            group.hinder("exponent_not_scalable", made.node)
            return
        if isinstance(statement.op, ast.Mult) and self._is_scalar(made.value):
            types = self.types.definition(made)
            self._factor(group, made.value, made.value, types is not None and types <= WIDE)
            return
        if isinstance(statement.op, (ast.Add, ast.Sub)):
            self._demand(group, made.value, False)
        self._demand_definition(group, made.sources[0], False)

    def _is_plain(self, made: Definition) -> bool:
        """True where the value is bound to this name only and used nowhere else."""
        statement = made.statement
        if isinstance(statement, ast.Assign):
            return len(statement.targets) == 1 and made.value is not None and not self._in_named(made.value)
        return isinstance(statement, ast.AnnAssign)

    def _in_named(self, value: ast.expr) -> bool:
        return isinstance(self.flow.parents.get(value), ast.NamedExpr)

    def _source(self, group: Group, node: ast.expr, wide: bool) -> None:
        """Where log2(e) enters: a scalar factor if there is one, else the whole expression."""
        factor = self._scalar_factor(node)
        if factor is not None:
            self._factor(group, factor, node, wide)
        elif wide or self.types.is_wide(node):
            group.inserts.append(node)
        else:
            group.hinder("exponent_not_scalable", node)

    def _factor(self, group: Group, factor: ast.expr, product: ast.expr, wide: bool) -> None:
        """Accept a factor that is fp32 with log2(e) in it, as its product is: half precision would show."""
        if not (wide or self.types.is_wide(product) or self.types.is_wide(factor) or self._is_runtime_number(factor)):
            group.hinder("exponent_not_scalable", product)
        if not self._takes_number(factor):
            group.hinder("exponent_not_scalable", factor)
        group.factors.append(factor)

    def _takes_number(self, node: ast.expr, depth: int = 8) -> bool:
        """True where the product with a literal is fp32, fp64 or Python's: not of half precision, nor unknown."""
        types = self.types.of(node)
        if types is not None:
            return types <= WIDE | INTEGERS | {"int", "float", "int1"}
        made = self.flow.definition(node)
        if made is not None and made.kind == "assign" and made.value is not None and depth:
            return self._takes_number(made.value, depth - 1)
        if isinstance(node, ast.BinOp):
            return all(self._takes_number(n, depth) for n in (node.left, node.right))
        # An argument of the launch that is added to numbers is one.
        return made is not None and made.kind == "parameter" and self.kernel.is_entry

    def _is_runtime_number(self, node: ast.expr) -> bool:
        """A runtime argument that is a number: a Python float becomes fp32."""
        made = self.flow.definition(node)
        return made is not None and made.kind == "parameter" and self.types.of(node) is not None

    def _scalar_factor(self, node: ast.expr) -> ast.expr | None:
        """A scalar factor inside a product, the scalar argument of a helper linear in it, or None."""
        match node:
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                sides = sorted((right, left), key=self._preference)
                if self._is_scalar(sides[0]):
                    return sides[0]
                return self._scalar_factor(right) or self._scalar_factor(left)
            case ast.BinOp(left=left, op=ast.Div()):
                return left if self._is_scalar(left) else self._scalar_factor(left)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return self._scalar_factor(inner)
            case ast.Call():
                return self._linear_argument(node)
            case _:
                return None

    def _preference(self, node: ast.expr) -> int:
        if number(self.module, self.flow, node) is not None:
            return 0
        return 3 if not self._is_scalar(node) else 1 if isinstance(node, ast.Name) else 2

    def _is_scalar(self, node: ast.expr) -> bool:
        value = self.events.values.get(node)
        plain = number(self.module, self.flow, node)
        return plain not in (0.0, None) or (plain is None and value is not None and value.dims == ())

    def _linear_argument(self, node: ast.Call) -> ast.expr | None:
        callee = callee_of(self.module, self.flow, node)
        if callee is None or not callee.definitions or callee.triton is not None:
            return None
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return None
        common: set[str] | None = None
        for _, helper in callee.definitions:
            linear = linear_parameters(helper)
            common = linear if common is None else common & linear
        for name in sorted(common or ()):
            positions = {helper.parameter_names.index(name) for _, helper in callee.definitions}
            given = argument(node, positions.pop(), name) if len(positions) == 1 else None
            if (
                given is not None
                and self._is_scalar(given)
                and (self.types.is_wide(given) or self._is_runtime_number(given))
            ):
                return given
        return None

    def is_neutral(self, node: ast.expr) -> bool:
        """Zero and infinity, and blocks of them."""
        value = number(self.module, self.flow, node)
        if value is not None:
            return value == 0.0 or math.isinf(value)
        if isinstance(node, ast.Call):
            name = operation(self.module, self.flow, node)
            if name == "full":
                fill = operand(self.module, self.flow, node, 1, "value")
                return fill is not None and self.is_neutral(fill)
            return name in ("zeros", "zeros_like")
        if isinstance(node, ast.Name):
            made = self.flow.reaching.get(node)
            return made is not None and made.kind == "assign" and made.value is not None and self.is_neutral(made.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            return self.is_neutral(node.left) and self.is_neutral(node.right)
        return False

    # -- forward ---------------------------------------------------------------------------------------------------

    def _find_other_bases(self, group: Group) -> None:
        """A value that an `exp2` takes as it is stands in base 2 already."""
        for sink in self.calls("exp2"):
            exponent = operand(self.module, self.flow, sink, 0, "x")
            reach = Group()
            if exponent is not None:
                self._demand(reach, exponent, True)
            if reach.definitions & group.definitions:
                group.hinder("mixed_exponent_base", group.sinks[0])

    def _find_escapes(self, group: Group) -> None:
        for made in group.definitions:
            for use in made.uses:
                if use not in group.nodes and not self._is_harmless(group, use):
                    group.conversions.append(use)
            for fed in made.feeds:
                if fed not in group.definitions and is_live(fed):
                    group.hinder("base_escapes", next(iter(uses_after(fed)), fed.node))
        group.conversions.sort(key=lambda n: (n.lineno, n.col_offset))

    def _is_harmless(self, group: Group, use: ast.Name) -> bool:
        """Comparisons within the group, and with zero or infinity, come out the same in every unit."""
        parent = self.flow.parents[use]
        if isinstance(parent, ast.Attribute) and parent.attr in _HARMLESS:
            return True
        if (
            not isinstance(parent, ast.Compare)
            or len(parent.ops) != 1
            or isinstance(parent.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn))
        ):
            return False
        other = parent.comparators[0] if parent.left is use else parent.left
        made = self.flow.definition(other)
        return self.is_neutral(other) or (made is not None and made in group.definitions)

    def _weigh(self, group: Group) -> None:
        """Multiplications that are put in must be fewer than those that the exponentials save."""
        saved = self._weight(list(group.sinks))
        put_in, converted = self._weight(group.inserts), self._weight(group.conversions)
        if put_in and put_in >= saved:
            group.hinder("exponent_not_scalable", group.sinks[0])
        elif converted and put_in + converted >= saved:
            group.hinder("base_escapes", group.conversions[0])

    def _weight(self, nodes: Sequence[ast.expr], inside: tuple[ast.AST, ...] = ()) -> int:
        """How often multiplications at these nodes run, roughly: loops and dimensions, one arm of each branch."""
        total = 0
        arms: dict[ast.If, tuple[list[ast.expr], list[ast.expr]]] = {}
        for node in nodes:
            branch = self._branch(node, inside)
            if branch is None:
                total += self._runs(node)
            else:
                arms.setdefault(branch[0], ([], []))[branch[1]].append(node)
        return total + sum(max(self._weight(arm, (*inside, branch)) for arm in pair) for branch, pair in arms.items())

    def _branch(self, node: ast.AST, inside: tuple[ast.AST, ...]) -> tuple[ast.If, int] | None:
        """The outermost branch around a node that is not in `inside`, and the arm (0 or 1) it stands in."""
        found = None
        while (parent := self.flow.parents.get(node)) is not None and parent not in inside:
            if isinstance(parent, ast.If) and node is not parent.test:
                found = parent, 0 if node in parent.body else 1
            node = parent
        return found

    def _runs(self, node: ast.expr) -> int:
        value = self.events.values.get(node)
        rank = 1 if value is None or value.dims is None else sum(d.size != "1" for d in value.dims)
        return int(16 ** len(self.flow.loops_around(node)) * 16**rank)
