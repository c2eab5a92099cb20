"""What a kernel does to memory and control, as the interpreter saw it: the raw material of every condition."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from .axes import Axis
from .value import Value


@dataclass(frozen=True, slots=True)
class Condition:
    """A branch taken on the way: its test's value, the test, and whether it was true."""

    value: Value
    test: ast.expr
    holds: bool


@dataclass(frozen=True, slots=True)
class Access:
    """One load, store or atomic."""

    kind: str
    """`load`, `store`, or the atomic's name (`atomic_add`)."""
    node: ast.Call
    pointer: Value
    mask: Value | None
    value: Value | None
    """What is stored; of a load, what came back."""
    conditions: tuple[Condition, ...]
    path: tuple[int, ...]
    """Lines of the helper calls it stands in, outermost first; empty in the kernel itself."""
    top: ast.stmt
    """The kernel's own statement it stands in."""
    covered: frozenset[tuple[Axis, str]] = frozenset()
    """Axes whose lanes a mask, a boundary check or a proved branch cuts, each with the limit's key."""

    @property
    def line(self) -> int:
        return self.path[0] if self.path else self.node.lineno


@dataclass(frozen=True, slots=True)
class Work:
    """A reduction, scan, dot or transcendental: what may be worth doing once."""

    operation: str
    node: ast.Call | ast.BinOp
    value: Value
    """The result."""
    operand: Value
    path: tuple[int, ...]
    in_loop: bool
    conditions: tuple[Condition, ...]

    @property
    def line(self) -> int:
        return self.path[0] if self.path else self.node.lineno


@dataclass(frozen=True, slots=True)
class Exit:
    """A return before the end."""

    node: ast.Return
    conditions: tuple[Condition, ...]
    path: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something the analysis does not follow; it matters only if its inputs matter."""

    what: str
    node: ast.AST
    inputs: Value


@dataclass(slots=True)
class Events:
    """Everything recorded in the last round of the analysis, keyed by place so that a later round overwrites."""

    accesses: dict[tuple[object, ...], Access] = field(default_factory=dict)
    work: dict[tuple[object, ...], Work] = field(default_factory=dict)
    exits: dict[tuple[object, ...], Exit] = field(default_factory=dict)
    unknowns: dict[tuple[object, ...], Unknown] = field(default_factory=dict)
    program_counts: dict[int, ast.Call] = field(default_factory=dict)
    """`num_programs(k)` calls by axis number."""
    values: dict[ast.AST, Value] = field(default_factory=dict)
    """Value of every expression of the kernel itself."""
    statements: dict[ast.stmt, tuple[Condition, ...]] = field(default_factory=dict)
    """Conditions under which each statement of the kernel itself runs."""
    conflicts: set[str] = field(default_factory=set)
    """Constexpr tests whose two arms give a name different ranks."""
