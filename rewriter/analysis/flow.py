"""Def-use chains of one function: which definitions reach each use of a name, and who uses each definition.

Flow-sensitive. Where paths meet, a name gets one definition of its own: `join` after a branch, `carry` at the head of
a loop, so that every use has exactly one definition behind it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from .callees import Callee

Kind = Literal["parameter", "assign", "augmented", "unpack", "loop", "join", "carry"]
Loop = ast.For | ast.While

_OPAQUE = (
    ast.Break,
    ast.Continue,
    ast.With,
    ast.Try,
    ast.FunctionDef,
    ast.ClassDef,
    ast.Global,
    ast.Nonlocal,
    ast.Delete,
    ast.Match,
    ast.Import,
    ast.ImportFrom,
    ast.Raise,
)
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(eq=False, slots=True)
class Definition:
    """One place that gives a name its value."""

    name: str
    kind: Kind
    node: ast.AST
    """The target or argument; of `join` and `carry` the branch or loop."""
    value: ast.expr | None = None
    """assign: the value (element-wise where tuples face each other); augmented: the right side; unpack: the whole
    right side; loop: the iterator."""
    sources: list[Definition] = field(default_factory=list)
    """join: one for each arm that sets it; carry: what enters the loop, then what its end hands back; augmented: the
    old value."""
    statement: ast.stmt | None = None
    loops: tuple[Loop, ...] = ()
    """Loops around it, outermost first; a carry counts its own loop."""
    uses: list[ast.Name] = field(default_factory=list)
    feeds: list[Definition] = field(default_factory=list)
    """Joins, carries and augmented assignments that take it over."""

    @property
    def line(self) -> int:
        return int(getattr(self.node, "lineno", 0))


@dataclass(slots=True)
class Flow:
    """Def-use chains of one function."""

    function: ast.FunctionDef
    reaching: dict[ast.Name, Definition] = field(default_factory=dict)
    """The definition behind each use of a local name; names of the module are not in it."""
    definitions: list[Definition] = field(default_factory=list)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    loops: dict[ast.stmt, tuple[Loop, ...]] = field(default_factory=dict)
    """Loops around each statement, outermost first."""
    stored: dict[ast.Name, Definition] = field(default_factory=dict)
    """The definition that each target makes."""
    opaque: list[ast.stmt] = field(default_factory=list)
    """Statements that the chains do not follow: whoever needs a proof gives up where there is one."""
    returns: list[ast.Return] = field(default_factory=list)
    callees: dict[ast.Call, Callee | None] = field(default_factory=dict)
    """What the calls reach, kept by `operators.callee_of`: finding a definition may read other files."""

    def definition(self, node: ast.expr) -> Definition | None:
        """The definition behind a name, or None for anything else."""
        return self.reaching.get(node) if isinstance(node, ast.Name) else None

    def times_set(self, name: str) -> int:
        """How often a name gets a value; paths that meet set nothing."""
        return len([d for d in self.definitions if d.name == name and d.kind not in ("join", "carry")])

    def parameter(self, node: ast.expr) -> str | None:
        """The parameter that a name is, where the function never sets it."""
        made = self.definition(node)
        if made is None or made.kind != "parameter" or self.times_set(made.name) > 1:
            return None
        return made.name

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds a node."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def loops_around(self, node: ast.AST) -> tuple[Loop, ...]:
        """Loops around an expression; a loop's own iterator or test counts as outside it."""
        return self.loops.get(self.statement(node), ())

    def resolve(self, node: ast.expr) -> ast.expr:
        """Follow plain copies `a = b` back to the expression they stand for; the last name where that is no copy."""
        seen = 0
        while isinstance(node, ast.Name) and seen < 100:
            made = self.reaching.get(node)
            if made is None or made.kind != "assign" or not isinstance(made.value, ast.Name):
                return node
            node, seen = made.value, seen + 1
        return node


@lru_cache(maxsize=64)
def flow_of(function: ast.FunctionDef) -> Flow:
    """The chains of a function, remembered. Never raises: what is not followed stands in `opaque`."""
    builder = _Builder(Flow(function))
    builder.run()
    return builder.flow


def assigned_names(body: list[ast.stmt]) -> list[str]:
    """Every name that statements may set, in source order."""
    return list(
        dict.fromkeys(
            n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        )
    )


Names = dict[str, Definition]


class _Builder:
    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.around: tuple[Loop, ...] = ()
        self.local = frozenset(assigned_names(flow.function.body))

    def run(self) -> None:
        function = self.flow.function
        for node in ast.walk(function):
            for child in ast.iter_child_nodes(node):
                self.flow.parents[child] = node
        arguments = function.args
        names: Names = {}
        for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
            if a is not None:
                names[a.arg] = self.add(Definition(a.arg, "parameter", a))
        self.block(function.body, names)

    def add(self, definition: Definition) -> Definition:
        self.flow.definitions.append(definition)
        for source in definition.sources:
            source.feeds.append(definition)
        return definition

    def block(self, body: list[ast.stmt], names: Names) -> Names | None:
        """Names after the block; None where control never leaves it."""
        current: Names | None = names
        for statement in body:
            if current is None:
                # Dead code: nothing in it runs, so nothing in it matters.
                self.flow.opaque += [s for s in ast.walk(statement) if isinstance(s, _OPAQUE)]
                return None
            self.flow.loops[statement] = self.around
            current = self.statement(statement, current)
        return current

    def statement(self, node: ast.stmt, names: Names) -> Names | None:
        match node:
            case ast.Assign():
                self.read(node.value, names)
                for target in node.targets:
                    self.bind(target, node.value, node, names)
            case ast.AnnAssign():
                if node.value is not None:
                    self.read(node.value, names)
                    self.bind(node.target, node.value, node, names)
            case ast.AugAssign():
                self.read(node.value, names)
                if isinstance(node.target, ast.Name):
                    old = names.get(node.target.id)
                    self.put(
                        names,
                        node.target,
                        Definition(
                            node.target.id,
                            "augmented",
                            node.target,
                            node.value,
                            [old] if old else [],
                            node,
                            self.around,
                        ),
                    )
                else:
                    self.read(node.target, names)
            case ast.If():
                self.read(node.test, names)
                return self.branch(node, names)
            case ast.For() | ast.While():
                return self.loop(node, names)
            case ast.Return():
                self.flow.returns.append(node)
                if node.value is not None:
                    self.read(node.value, names)
                return None
            case _:
                if isinstance(node, _OPAQUE):
                    self.flow.opaque.append(node)
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.read(child, names)
        return names

    def branch(self, node: ast.If, names: Names) -> Names | None:
        then, other = self.block(node.body, dict(names)), self.block(node.orelse, dict(names))
        if then is None or other is None:
            return then if other is None else other
        joined: Names = {}
        for name in dict.fromkeys((*then, *other)):
            made = [d for d in (then.get(name), other.get(name)) if d is not None]
            same = len(made) == 1 or made[0] is made[1]
            joined[name] = made[0] if same else self.add(Definition(name, "join", node, None, made, node, self.around))
        return joined

    def loop(self, node: Loop, names: Names) -> Names | None:
        if isinstance(node, ast.For):
            self.read(node.iter, names)
        outer, self.around = self.around, (*self.around, node)
        inside = dict(names)
        carried: Names = {}
        for name in assigned_names(node.body):
            if name in names:
                carried[name] = inside[name] = self.add(
                    Definition(name, "carry", node, None, [names[name]], node, self.around)
                )
        if isinstance(node, ast.For):
            for target in ast.walk(node.target):
                if isinstance(target, ast.Name):
                    self.put(inside, target, Definition(target.id, "loop", target, node.iter, [], node, self.around))
        else:
            self.read(node.test, inside)
        end = self.block(node.body, inside)
        self.around = outer
        after = dict(names) | carried
        for name, made in (end or {}).items():
            if name in carried:
                if made is not carried[name]:
                    carried[name].sources.append(made)
                    made.feeds.append(carried[name])
            elif name not in names:
                after[name] = made
            elif made is not names[name]:
                # The loop's own variable hides an older name: which of the two is seen afterwards is left open.
                after[name] = self.add(Definition(name, "join", node, None, [names[name], made], node, outer))
        return self.block(node.orelse, after) if node.orelse else after

    def bind(self, target: ast.expr, value: ast.expr, statement: ast.stmt, names: Names) -> None:
        if isinstance(target, ast.Name):
            self.put(names, target, Definition(target.id, "assign", target, value, [], statement, self.around))
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = (
                value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) else None
            )
            if parts is not None and not any(isinstance(e, ast.Starred) for e in (*parts, *target.elts)):
                for one, part in zip(target.elts, parts, strict=True):
                    self.bind(one, part, statement, names)
                return
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    self.put(names, name, Definition(name.id, "unpack", name, value, [], statement, self.around))
        else:
            self.read(target, names)

    def put(self, names: Names, target: ast.Name, definition: Definition) -> None:
        names[target.id] = self.flow.stored[target] = self.add(definition)

    def read(self, node: ast.expr, names: Names) -> None:
        """Note the uses in an expression, in evaluation order."""
        if isinstance(node, ast.Name):
            made = names.get(node.id)
            if made is not None and isinstance(node.ctx, ast.Load):
                self.flow.reaching[node] = made
                made.uses.append(node)
            elif made is None and isinstance(node.ctx, ast.Load) and node.id in self.local:
                # Set further down, in an earlier round of a loop that is unrolled.
                self.flow.opaque.append(self.flow.statement(node))
            return
        if isinstance(node, _SCOPES):
            self.flow.opaque.append(self.flow.statement(node))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.read(child, names)
            elif isinstance(child, (ast.keyword, ast.comprehension)):
                for inner in ast.iter_child_nodes(child):
                    if isinstance(inner, ast.expr):
                        self.read(inner, names)
        if isinstance(node, ast.NamedExpr):
            self.bind(node.target, node.value, self.flow.statement(node), names)
