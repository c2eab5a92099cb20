"""A loop that only adds up: its sums, and the pointers and counters that it moves by one step a round.

The loop may then be cut into shares that are added afterwards: nothing else goes from one round to the next.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..reasons import Refuse, refuse
from .effects import changes_memory
from .facts import Facts
from .flow import Definition, Flow
from .operators import number, operand, operation
from .statements import names_set, read_before_set
from .types import TypeAnalysis

_STEP_CALLS = frozenset({"cdiv", "to", "cast"})


@dataclass(frozen=True)
class Moved:
    """A pointer or a counter: `name += step` once a round; the step is the same in every round."""

    name: str
    step: ast.expr
    negative: bool
    is_pointer: bool


@dataclass(frozen=True)
class AdditiveLoop:
    """One loop at the top level of a kernel."""

    loop: ast.For
    range: ast.Call
    sums: tuple[str, ...]
    """Names that start as zeros, only have something added in the loop, and are read after it."""
    moved: tuple[Moved, ...]


def additive_loop(facts: Facts, flow: Flow, types: TypeAnalysis, body: list[ast.stmt], loop: ast.For) -> AdditiveLoop:
    """The loop's parts. Raises Refuse: loop_not_additive, state_not_zero."""
    return _Reader(facts, flow, types, body, loop).read()


class _Reader:
    def __init__(self, facts: Facts, flow: Flow, types: TypeAnalysis, body: list[ast.stmt], loop: ast.For) -> None:
        self.facts, self.flow, self.types, self.body, self.loop = facts, flow, types, body, loop
        self.module = facts.module
        self.set_inside = frozenset(n for s in loop.body for n in names_set(s)) | {
            n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)
        }

    def read(self) -> AdditiveLoop:
        call = self._range()
        self._require_quiet()
        after = self.body[self.body.index(self.loop) + 1 :]
        read_after = read_before_set(after)
        sums: list[str] = []
        moved: list[Moved] = []
        for made in self._carried():
            found = self._moved(made)
            if found is not None:
                moved.append(found)
            elif self._is_sum(made.name):
                if made.name in read_after:
                    self._require_zero(made)
                    sums.append(made.name)
            else:
                raise self._refuse(f"{made.name} is carried from round to round other than by adding to it")
        left = sorted(self.set_inside & read_after - set(sums))
        if left:
            raise self._refuse(f"{left[0]} is read after it")
        if not sums:
            raise self._refuse("it adds nothing up")
        return AdditiveLoop(self.loop, call, tuple(sums), tuple(moved))

    def _range(self) -> ast.Call:
        call = self.loop.iter
        is_range = isinstance(call, ast.Call) and (
            (isinstance(call.func, ast.Name) and call.func.id == "range" and call.func not in self.flow.reaching)
            or operation(self.module, self.flow, call) == "range"
        )
        if not is_range or not isinstance(call, ast.Call) or not isinstance(self.loop.target, ast.Name):
            raise self._refuse("it does not count over a range")
        starred = any(isinstance(a, ast.Starred) for a in call.args)
        if starred or not 1 <= len(call.args) <= 3 or self.loop.orelse:
            raise self._refuse("its range is not written out, or it has an else")
        if any(k.arg in ("arg1", "arg2", "step", None) for k in call.keywords):
            raise self._refuse("its bounds are keywords")
        if self.loop.target.id in frozenset(n for s in self.loop.body for n in names_set(s)):
            raise self._refuse(f"{self.loop.target.id} is set again inside")
        return call

    def _require_quiet(self) -> None:
        """Nothing up to the end of the loop writes memory or waits: both kernels run what stands before it."""
        for statement in self.body[: self.body.index(self.loop) + 1]:
            for node in ast.walk(statement):
                if isinstance(node, ast.Call) and changes_memory(self.module, self.flow, node):
                    raise self._refuse("memory is written before the sum is complete", node)
        for node in ast.walk(self.loop):
            if isinstance(node, ast.Return):
                raise self._refuse("a round may leave the kernel", node)

    def _carried(self) -> list[Definition]:
        """What a round may see of the round before, or the kernel of the last one."""
        inside = set(ast.walk(self.loop))
        found = []
        for made in self.flow.definitions:
            if made.kind == "carry" and made.node is self.loop and len(made.sources) > 1:
                seen = any(u in inside for u in made.uses) or any(f.node in inside for f in made.feeds)
                if seen:
                    found.append(made)
        return found

    def _moved(self, made: Definition) -> Moved | None:
        """`p += step` or `p = p + step`, once, in every round, by what no round changes."""
        setters = [s for s in ast.walk(self.loop) if isinstance(s, ast.stmt) and _sets(s, made.name)]
        if len(setters) != 1 or setters[0] not in self.loop.body:
            return None
        step = _added(setters[0], made.name)
        if step is None or names_in(step[0]) & self.set_inside:
            return None
        for node in ast.walk(step[0]):
            if isinstance(node, ast.Call) and operation(self.module, self.flow, node) not in _STEP_CALLS:
                return None
        values = [e.values[n] for e in self.facts.runs for n in self._names(made.name) if n in e.values]
        is_pointer = bool(values) and all(v.bases for v in values)
        if not is_pointer and not all(self.types.is_integer(n) for n in made.uses):
            return None
        return Moved(made.name, step[0], step[1], is_pointer)

    def _is_sum(self, name: str) -> bool:
        """True where all that happens to the name is that something is added."""
        allowed: set[ast.Name] = set()
        for statement in (s for s in ast.walk(self.loop) if isinstance(s, ast.stmt) and _sets(s, name)):
            added = _added(statement, name)
            if added is not None:
                allowed |= {n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name}
                if name in names_in(added[0]):
                    return False
            elif isinstance(statement, ast.Assign) and self._adds_in_dot(statement, name):
                allowed |= {n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name}
            else:
                return False
        return set(self._names(name)) <= allowed

    def _adds_in_dot(self, statement: ast.Assign, name: str) -> bool:
        """`acc = tl.dot(a, b, acc)`, into fp32."""
        call = statement.value
        if not isinstance(call, ast.Call) or operation(self.module, self.flow, call) != "dot":
            return False
        if any(k.arg in ("out_dtype", "max_num_imprecise_acc") for k in call.keywords) or len(call.args) > 3:
            return False
        start = operand(self.module, self.flow, call, 2, "acc")
        names = [n for n in ast.walk(call) if isinstance(n, ast.Name) and n.id == name]
        return len(statement.targets) == 1 and isinstance(start, ast.Name) and names == [start]

    def _require_zero(self, made: Definition) -> None:
        start = made.sources[0]
        value = start.value if start.kind == "assign" else None
        if value is not None and not start.loops:
            name = operation(self.module, self.flow, value)
            if name == "full":
                assert isinstance(value, ast.Call)
                filled = operand(self.module, self.flow, value, 1, "value")
                zero = filled is not None and number(self.module, self.flow, filled) == 0
            else:
                zero = name == "zeros" or number(self.module, self.flow, value) == 0
            if zero:
                return
        raise refuse("state_not_zero", start.node, also=[self.loop], name=made.name)

    def _names(self, name: str) -> list[ast.Name]:
        return [n for n in ast.walk(self.loop) if isinstance(n, ast.Name) and n.id == name]

    def _refuse(self, why: str, where: ast.AST | None = None) -> Refuse:
        return refuse("loop_not_additive", where or self.loop, also=[self.loop], why=why)


def names_in(node: ast.AST) -> frozenset[str]:
    """Names in an expression."""
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))


def _sets(statement: ast.stmt, name: str) -> bool:
    """True where the statement itself, not one inside it, sets the name."""
    if isinstance(statement, (ast.If, ast.For, ast.While)):
        target = statement.target if isinstance(statement, ast.For) else None
        return target is not None and name in names_in(target)
    return name in names_set(statement)


def _added(statement: ast.stmt, name: str) -> tuple[ast.expr, bool] | None:
    """What a statement adds to a name, and whether it is taken away; None for any other statement."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=target), op=ast.Add() | ast.Sub() as op, value=value) if target == name:
            return None if name in names_in(value) else (value, isinstance(op, ast.Sub))
        case ast.Assign(targets=[ast.Name(id=target)], value=ast.BinOp(left=left, op=op, right=right)) if (
            target == name and isinstance(op, (ast.Add, ast.Sub))
        ):
            if isinstance(left, ast.Name) and left.id == name and name not in names_in(right):
                return right, isinstance(op, ast.Sub)
            if isinstance(op, ast.Add) and isinstance(right, ast.Name) and right.id == name:
                return None if name in names_in(left) else (left, False)
    return None
