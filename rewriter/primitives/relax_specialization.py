"""relax_specialization: counts that vary from call to call stop costing a compilation each.

rewrite:  @triton.jit                            ->  @triton.jit(do_not_specialize=["T"])
          def kernel(x, T, BT: tl.constexpr):        def kernel(x, T, BT: tl.constexpr):

          def kernel(x, B: tl.constexpr):        ->  def kernel(x, B):          (and B is listed as well)

Conditions
    - a run-time number that bounds a mask or a loop, multiplies no block, and is at every launch one of the first two
      dimensions of a tensor of three or more, a `shape[0]`, a length or a number of elements;
    - a constexpr that is at every launch such a first dimension, and that the kernel only compares with what is known
      at run time, counts loops to, adds, or multiplies or divides run-time numbers by: never a shape, a branch, a true
      division, a product of constants (which may pass 2**31 there and would wrap here), or an argument of a helper;
    - the kernel is called by no other, and the decorator lists nothing yet.

Numerics
    `bitwise`: the same integers. The compiler no longer knows them to be 1 or multiples of 16.

Refuses: pattern_not_found, already_applied, constexpr_needed, unreadable_launch, no_launch_site, unknown_construct.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass, Refusal

from ..analysis.facts import Facts, analyse
from ..analysis.flow import Definition, Flow, flow_of
from ..analysis.number_width import NumberWidth
from ..analysis.operators import operation
from ..kernel.definition import KernelDef, Module, Parameter
from ..kernel.edits import Edit
from ..kernel.insert import insert_arguments
from ..kernel.launch import Launch, calls_of, launches_of, readable_launches
from ..kernel.scope import reaching
from ..reasons import Refuse, refusal, refuse
from .base import Primitive

_LISTS = ("do_not_specialize", "do_not_specialize_on_alignment")
_RANK = 3
"""Dimensions of an activation at least: what has fewer may be a weight."""


def relax_specialization(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits of the decorator, and of the annotations of constexpr counts. Raises Refuse."""
    jit = kernel.jit
    if isinstance(jit, ast.Call) and any(k.arg in (*_LISTS, None) or k.arg == "noinline" for k in jit.keywords):
        raise refuse("already_applied", jit, kernel=kernel.name, skeleton="relax_specialization")
    flow = flow_of(kernel.node)
    if flow.opaque:
        statement = flow.opaque[0]
        raise refuse("unknown_construct", statement, construct=f"`{type(statement).__name__.lower()}`")
    if calls_of(module, kernel):
        raise refuse("unreadable_launch", kernel.node, kernel=kernel.name, why="it is also called as a function")
    search = _Search(module, kernel, flow)
    dropped = search.constexpr_counts()
    names = [*search.counts(), *(p.name for p in dropped)]
    if not names:
        if search.needed:
            raise Refuse(search.needed[0], search.needed[1:])
        raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="relax_specialization")
    if dropped:
        readable_launches(module, kernel)
    ordered = [n for n in kernel.parameter_names if n in names]
    listed = f"do_not_specialize=[{', '.join(f'{chr(34)}{n}{chr(34)}' for n in ordered)}]"
    edits = [_without_annotation(module, p) for p in dropped]
    if isinstance(jit, ast.Call):
        return edits + insert_arguments(module.source, jit, [listed])
    end = module.source.span(jit)[1]
    return [*edits, Edit(end, end, f"({listed})")]


def _without_annotation(module: Module, parameter: Parameter) -> Edit:
    start, end = module.source.span(parameter.node)
    return Edit(start, end, parameter.name)


class _Search:
    def __init__(self, module: Module, kernel: KernelDef, flow: Flow) -> None:
        self.module, self.kernel, self.flow = module, kernel, flow
        self.facts: Facts = analyse(module, kernel)
        self.widths = NumberWidth(module, kernel, flow)
        self.launches = launches_of(module, kernel)
        self.made = {d.name: d for d in flow.definitions if d.kind == "parameter"}
        self.needed: list[Refusal] = []
        """Constexpr counts that must stay what they are."""

    def counts(self) -> list[str]:
        """Run-time numbers that only bound and count."""
        found = []
        for parameter in self.kernel.parameters:
            made = self.made.get(parameter.name)
            if parameter.is_constexpr or parameter.node.annotation is not None or made is None:
                continue
            if not self.launches or not all(self._varies(launch, parameter.name, 2) for launch in self.launches):
                continue
            if any(self._bounds(u) for u in made.uses) and not any(self._excludes(u) for u in made.uses):
                found.append(parameter.name)
        return found

    def _bounds(self, use: ast.Name) -> bool:
        """True for `offsets < T` on a block and for `range(T)`."""
        parent = self.flow.parents[use]
        if isinstance(parent, ast.Compare) and len(parent.ops) == 1 and isinstance(parent.ops[0], (ast.Lt, ast.LtE)):
            return parent.comparators[0] is use and self._is_block(parent.left)
        return isinstance(parent, ast.Call) and self._counts(parent)

    def _counts(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Name) and call.func.id == "range" and call.func not in self.flow.reaching:
            return True
        return operation(self.module, self.flow, call) == "range"

    def _is_block(self, node: ast.expr) -> bool:
        return any(bool(events.values[node].dims) for events in self.facts.runs if node in events.values)

    def _excludes(self, use: ast.Name) -> bool:
        """True for a use as a pointer, a factor of a block, or one that tells None from a number."""
        parent = self.flow.parents[use]
        if isinstance(parent, ast.Compare) and any(isinstance(o, (ast.Is, ast.IsNot)) for o in parent.ops):
            return True
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult):
            return self._is_block(parent.left) or self._is_block(parent.right)
        return isinstance(parent, (ast.Attribute, ast.Subscript, ast.BoolOp, ast.If, ast.IfExp)) or (
            isinstance(parent, ast.Call) and operation(self.module, self.flow, parent) in ("load", "store")
        )

    def constexpr_counts(self) -> list[Parameter]:
        """Constexprs that may become run-time numbers."""
        found = []
        for parameter in self.kernel.parameters:
            made = self.made.get(parameter.name)
            if not parameter.is_constexpr or parameter.default is not None or made is None or not self.launches:
                continue
            if not all(self._varies(launch, parameter.name, 1) for launch in self.launches):
                continue
            held = next((u for u in made.uses if not self._is_free(u)), None)
            if held is not None:
                self.needed.append(refusal("constexpr_needed", held, name=parameter.name))
            elif made.uses and not self._is_decorated(parameter.name):
                found.append(parameter)
        return found

    def _is_decorated(self, name: str) -> bool:
        """True where a decorator names it: a key, a heuristic or a configuration may set or read it."""
        return any(
            isinstance(n, ast.Constant) and n.value == name
            for d in self.kernel.node.decorator_list
            for n in ast.walk(d)
        )

    def _varies(self, launch: Launch, name: str, first: int) -> bool:
        """True where a launch passes a length, or one of a tensor's `first` dimensions: it varies between calls."""
        argument = launch.arguments.get(name)
        match argument:
            case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant(value=0)):
                return True
            case ast.Call(func=ast.Name(id="len"), args=[_]) | ast.Call(func=ast.Attribute(attr="numel"), args=[]):
                return True
            case ast.Name():
                bindings = reaching(self.module.source, argument.id, argument)
                statement = bindings[0].statement if len(bindings) == 1 else None
                if not isinstance(statement, ast.Assign) or bindings[0].kind != "unpack":
                    return False
                names, shape = statement.targets[0], statement.value
                if isinstance(shape, ast.Tuple) and shape.elts and isinstance(shape.elts[0], ast.Starred):
                    shape = shape.elts[0].value
                return (
                    isinstance(names, ast.Tuple)
                    and len(names.elts) >= _RANK
                    and bindings[0].node in names.elts[:first]
                    and isinstance(shape, ast.Attribute)
                    and shape.attr == "shape"
                )
        return False

    def _is_free(self, use: ast.Name) -> bool:
        """True where a number known only at run time does the same as the constant."""
        parent = self.flow.parents[use]
        match parent:
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], comparators=[right]):
                return self._is_runtime(right if left is use else left)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self._is_runtime(right if left is use else left)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                other = right if left is use else left
                return self._is_runtime(other)
            case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod()):
                return left is not use and self._is_runtime(left)
            case ast.Call() if use in parent.args:
                return self._counts(parent)
        return False

    def _is_runtime(self, node: ast.expr) -> bool:
        """True for an integer of 32 bits or more, or a pointer, that is not computed from constants alone: its
        arithmetic is the machine's already."""
        return self._is_computed(node) and self.widths.is_kept(node)

    def _is_computed(self, node: ast.expr) -> bool:
        names = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n in self.flow.reaching]
        if any(isinstance(n, ast.Call) and operation(self.module, self.flow, n) is None for n in ast.walk(node)):
            return False
        kinds = {self._comes_from_program(self.flow.reaching[n], set()) for n in names}
        calls = {operation(self.module, self.flow, n) for n in ast.walk(node) if isinstance(n, ast.Call)}
        return True in kinds or bool(calls & {"program_id", "arange", "load"})

    def _comes_from_program(self, made: Definition, seen: set[Definition]) -> bool:
        """True where every way to the name goes through a program id, a block, a load, a loop or a run-time number."""
        if made in seen:
            return True
        seen.add(made)
        if made.kind == "parameter":
            return made.name not in self.kernel.constexprs
        if made.kind == "loop":
            return True
        if made.kind in ("join", "carry", "augmented") and made.sources:
            return all(self._comes_from_program(s, seen) for s in made.sources)
        return made.value is not None and self._is_computed(made.value)


PRIMITIVE = Primitive("relax_specialization", relax_specialization, NumericsClass.BITWISE)
