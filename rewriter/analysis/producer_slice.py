"""What of a kernel's body could be done once for all tiles of an axis, before the kernel: the statements, and the
values that the kernel would load instead.

A statement is movable where nothing in it depends on the axis, it only reads memory that the kernel never writes, and
every name it reads is set by movable statements. Of the values that movable work ends in, those are saved that are
proved fp32, or fp64 where one of their inputs is, of a known shape, and set on every path.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..kernel.definition import KernelDef, Module
from .axes import Axis
from .effects import changes_memory, is_volatile
from .facts import Facts
from .flow import Flow
from .lanes import written_bases
from .operators import operation
from .statements import names_read, names_set, surely_set
from .tile_slice import accesses_in, depends_on_axis
from .types import TypeAnalysis

MAX_RANK = 2
"""Dimensions of a block that is saved at most."""


@dataclass(frozen=True)
class Saved:
    """One value that goes through memory."""

    name: str
    sizes: tuple[str, ...]
    """Its dimensions, as constexpr parameters or numbers; none for a scalar."""
    after: ast.stmt
    """The last statement that sets it."""
    widens: frozenset[str] = frozenset()
    """Parameters with whose element type it is fp64 where that is; none for a value that is proved fp32."""


@dataclass(frozen=True)
class ProducerSlice:
    """How the body divides."""

    moved: tuple[ast.stmt, ...]
    """What computes the saved values, in order."""
    dropped: tuple[ast.stmt, ...]
    """What the kernel no longer needs."""
    saved: tuple[Saved, ...]
    movable: tuple[ast.stmt, ...]
    """All that could move, whether or not it gives a value worth saving."""


class Slicer:
    """Divides the top-level statements of one kernel for one axis."""

    def __init__(
        self,
        facts: Facts,
        flow: Flow,
        types: TypeAnalysis,
        axis: Axis,
        body: list[ast.stmt],
        aliases: Mapping[str, str],
    ) -> None:
        self.facts, self.flow, self.types, self.axis, self.body = facts, flow, types, axis, body
        self.written = written_bases(facts, aliases)
        self.aliases = aliases
        self.movable = self._movable()

    @property
    def module(self) -> Module:
        return self.facts.module

    @property
    def kernel(self) -> KernelDef:
        return self.facts.kernel

    def slice(self, work: Iterable[int]) -> ProducerSlice:
        """The division that saves as much as it can of what the work at these lines ends in."""
        hot = self._hot(set(work))
        fixed = [s for s in self.body if s not in self.movable]
        wanted = {n for s in fixed for n in names_read(s)} & hot
        saved = {n: found for n in sorted(wanted) if (found := self._saved(n)) is not None}
        while True:
            moved = self._moved(frozenset(saved))
            kept = self._kept(frozenset(saved), moved)
            spoiled = [n for n, one in saved.items() if self._spoils(one, kept)]
            if not spoiled:
                break
            for name in spoiled:
                del saved[name]
        dropped = tuple(s for s in moved if s not in kept)
        ordered = sorted(saved.values(), key=lambda one: (self.body.index(one.after), one.name))
        return ProducerSlice(moved, dropped, tuple(ordered), tuple(self.movable))

    # -- what may move ---------------------------------------------------------------------------------------------

    def _movable(self) -> list[ast.stmt]:
        found = [s for s in self.body if self._stands_alone(s)]
        end = next((i for i, s in enumerate(self.body) if s not in found and _leaves(s)), len(self.body))
        found = [s for s in found if self.body.index(s) < end]
        parameters = frozenset(self.kernel.parameter_names)
        while True:
            others = [s for s in self.body if s not in found]
            foreign = frozenset(n for s in others for n in names_set(s))
            foreign |= frozenset(n for s in found for n in self._tainted(s))
            bad = [
                s
                for s in found
                if reads_of(s) & foreign or (sets_of(s) - self._tainted(s)) & (foreign | parameters)
            ]
            if not bad:
                return found
            found = [s for s in found if s not in bad]

    def _stands_alone(self, statement: ast.stmt) -> bool:
        """True where the statement depends on no tile, changes nothing and waits for nobody."""
        test = exit_test(statement)
        inside = set(ast.walk(statement if test is None else test))
        if any(s in inside for s in self.flow.opaque) or isinstance(statement, ast.Expr):
            return False
        if test is not None:
            if self._depends(test):
                return False
        elif depends_on_axis(self.facts, self.axis, statement) and not self._is_decode(statement):
            return False
        calls = [n for n in inside if isinstance(n, ast.Call)]
        if any(changes_memory(self.module, self.flow, c) for c in calls):
            return False
        if any(
            operation(self.module, self.flow, c) == "load" and is_volatile(self.module, self.flow, c) for c in calls
        ):
            return False
        for access in accesses_in(self.facts, statement):
            if test is not None and access.node not in inside:
                continue
            bases = {self.aliases.get(b, b) for b in access.pointer.bases}
            if access.kind != "load" or not bases or bases & self.written or access.pointer.bases & self.written:
                return False
        return True

    def _is_decode(self, statement: ast.stmt) -> bool:
        """True for `i_v, i_n = tl.program_id(0), tl.program_id(1)`: some names are the axis, others are not."""
        tainted = self._tainted(statement)
        return bool(tainted) and tainted != names_set(statement)

    def _tainted(self, statement: ast.stmt) -> frozenset[str]:
        """Names of a tuple assignment that depend on the axis."""
        if not (
            isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Tuple)
            and isinstance(statement.value, ast.Tuple)
            and len(statement.targets[0].elts) == len(statement.value.elts)
        ):
            return frozenset()
        pairs = zip(statement.targets[0].elts, statement.value.elts, strict=True)
        return frozenset(
            t.id for t, value in pairs if isinstance(t, ast.Name) and (self._depends(t) or self._depends(value))
        )

    def _depends(self, node: ast.expr) -> bool:
        values = [e.values[node] for e in self.facts.runs if node in e.values]
        return not values or any(v.depends_on(self.axis) for v in values)

    # -- what is saved ---------------------------------------------------------------------------------------------

    def _hot(self, lines: set[int]) -> frozenset[str]:
        """Names that movable work ends in."""
        hot: frozenset[str] = frozenset()
        for statement in self.movable:
            works = any(statement.lineno <= n <= (statement.end_lineno or statement.lineno) for n in lines)
            if works or reads_of(statement) & hot:
                hot |= sets_of(statement)
            else:
                hot -= surely_set(statement)
        return hot

    def _saved(self, name: str) -> Saved | None:
        setters = [s for s in self.body if name in names_set(s)]
        if not any(name in surely_set(s) for s in setters):
            return None
        last = setters[-1]
        uses = self._uses_outside(name)
        if not uses or any(self.body.index(self._top(u)) <= self.body.index(last) for u in uses):
            return None
        if not all(self.types.is_wide(u) for u in uses):
            return None
        exact = all(self.types.is_fp32(u) for u in uses)
        widens = frozenset() if exact else self._memory(uses)
        if not exact and (not widens or "float64" in self.module.source.text):
            return None
        shapes = {e.values[u].dims for u in uses for e in self.facts.runs if u in e.values}
        shape = next(iter(shapes)) if len(shapes) == 1 else None
        if shape is None or len(shape) > MAX_RANK:
            return None
        sizes = tuple(d.size for d in shape)
        if any(s is None or not (s.isdigit() or s in self.kernel.constexprs) for s in sizes):
            return None
        return Saved(name, tuple(s for s in sizes if s is not None), last, widens)

    def _memory(self, uses: list[ast.Name]) -> frozenset[str]:
        """Parameters from whose memory a value was computed."""
        values = [e.values[u] for u in uses for e in self.facts.runs if u in e.values]
        return frozenset(name for value in values for name in value.memory)

    def _uses_outside(self, name: str) -> list[ast.Name]:
        return [
            n
            for s in self.body
            if s not in self.movable
            for n in ast.walk(s)
            if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
        ]

    def _top(self, node: ast.AST) -> ast.stmt:
        return next(s for s in self.body if any(n is node for n in ast.walk(s)))

    # -- what stays ------------------------------------------------------------------------------------------------

    def _kept(self, saved: frozenset[str], moved: tuple[ast.stmt, ...]) -> list[ast.stmt]:
        """Statements that stay in the kernel when these names are loaded."""
        live: frozenset[str] = frozenset()
        kept: list[ast.stmt] = []
        for statement in reversed(self.body):
            needed = statement not in moved or _leaves(statement) or bool(names_set(statement) & (live - saved))
            if needed:
                kept.append(statement)
                live |= names_read(statement)
        return kept[::-1]

    def _spoils(self, one: Saved, kept: list[ast.stmt]) -> bool:
        """True where a statement that stays sets the name, or reads what it was before."""
        last = self.body.index(one.after)
        return any(one.name in names_set(s) or (one.name in names_read(s) and self.body.index(s) <= last) for s in kept)

    def _moved(self, saved: frozenset[str]) -> tuple[ast.stmt, ...]:
        live = saved
        moved: list[ast.stmt] = []
        for statement in reversed(self.movable):
            if sets_of(statement) & live or (moved and _leaves(statement)):
                moved.append(statement)
                live |= reads_of(statement)
        return tuple(moved[::-1])


def exit_test(statement: ast.stmt) -> ast.expr | None:
    """The test of `if test: ...; return`. The new kernel leaves there too, without doing what stands before."""
    if isinstance(statement, ast.If) and not statement.orelse and isinstance(statement.body[-1], ast.Return):
        return statement.test if statement.body[-1].value is None else None
    return None


def reads_of(statement: ast.stmt) -> frozenset[str]:
    """Names that a moved statement reads: of an exit, those of its test."""
    test = exit_test(statement)
    return names_read(statement if test is None else ast.Expr(test))


def sets_of(statement: ast.stmt) -> frozenset[str]:
    """Names that a moved statement sets: an exit sets none that anything behind it could see."""
    return names_set(statement) if exit_test(statement) is None else frozenset()


def _leaves(statement: ast.stmt) -> bool:
    return any(isinstance(n, ast.Return) for n in ast.walk(statement))
