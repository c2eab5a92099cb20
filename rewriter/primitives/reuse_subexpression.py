"""reuse_subexpression: compute a repeated load or function once.

rewrite:  b_x = tl.load(p + o, mask=m)          ->  b_x = tl.load(p + o, mask=m)
          b_y = b_a * tl.load(p + o, mask=m)        b_y = b_a * b_x

          tl.store(y, tl.exp(b_g) * b_x)        ->  b_exp = tl.exp(b_g)
          tl.store(z, tl.exp(b_g) * b_w)            tl.store(y, b_exp * b_x)
                                                    tl.store(z, b_exp * b_w)

The first value keeps the name that it is assigned to, where that name still holds it at the repeat; else it gets one.
What both repeats do with the value alike (a cast, a scale) is kept with it.

Conditions
    - the expressions are the same, and every local name in them holds the same value at both places;
    - the first has surely run before the repeat, in the same round of every loop around both; branches on one
      constexpr test count as one branch;
    - of loads: no store, atomic, barrier or unknown call lies in between, to whatever memory, nor anywhere in a loop
      that holds only the repeat; no volatile load.
    Repeats that do not meet them are left; where none does, the primitive refuses.

Numerics
    `bitwise`: the same value is used again.

Refuses: pattern_not_found, store_between, may_not_have_run, unknown_construct.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass

from ..analysis.effects import between, changes_memory, end_position, has_run, is_volatile, position, writes_between
from ..analysis.flow import Flow, flow_of
from ..analysis.operations import TRANSCENDENTAL
from ..analysis.operators import operation
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.insert import insert_lines
from ..kernel.text import bracketed_span
from ..reasons import refuse
from .base import Primitive
from .names import names_in_use

Key = tuple[object, ...]


def reuse_subexpression(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that replace every repeat that is proved to give the first one's value. Raises Refuse."""
    flow = flow_of(kernel.node)
    if flow.opaque:
        statement = flow.opaque[0]
        raise refuse("unknown_construct", statement, construct=f"`{type(statement).__name__.lower()}`")
    search = _Search(module, kernel, flow)
    groups = search.groups()
    edits = _Writer(module, kernel, flow, groups).edits()
    if edits:
        return edits
    if search.written:
        one, two, store = search.written[0]
        raise refuse("store_between", two, also=[one, store], first=one.lineno, store=store.lineno)
    if search.unsure:
        one, two = search.unsure[0]
        raise refuse("may_not_have_run", two, also=[one], first=one.lineno)
    raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="reuse_subexpression")


class _Search:
    """Repeats by the expression that they repeat, and what stood against others."""

    def __init__(self, module: Module, kernel: KernelDef, flow: Flow) -> None:
        self.module, self.kernel, self.flow = module, kernel, flow
        self.written: list[tuple[ast.expr, ast.expr, ast.Call]] = []
        self.unsure: list[tuple[ast.expr, ast.expr]] = []

    def groups(self) -> list[tuple[ast.expr, list[ast.expr]]]:
        """Each first expression with its repeats; larger ones first, and nothing twice."""
        inside = {n for s in self.kernel.node.body for n in ast.walk(s)}
        calls = [n for n in inside if isinstance(n, ast.Call) and self._is_worth(n)]
        firsts: dict[Key, list[ast.expr]] = {}
        found: dict[ast.expr, list[ast.expr]] = {}
        for call in sorted(calls, key=position):
            key = self._key(call)
            if key is None:
                continue
            for first in firsts.setdefault(key, []):
                if self._may_reuse(first, call):
                    found.setdefault(first, []).append(call)
                    break
            else:
                firsts[key].append(call)
        lifted = [self._lift(first, repeats) for first, repeats in found.items()]
        return _outermost(lifted)

    def _is_worth(self, call: ast.Call) -> bool:
        name = operation(self.module, self.flow, call)
        if name == "load":
            return bool(call.args) and not is_volatile(self.module, self.flow, call)
        return name in TRANSCENDENTAL

    def _key(self, node: ast.expr) -> Key | None:
        """The text, and what every local name in it holds; None where a part has effects or is not followed."""
        parts: list[object] = [ast.dump(node)]
        for n in ast.walk(node):
            if isinstance(n, ast.Call) and changes_memory(self.module, self.flow, n):
                return None
            if isinstance(n, ast.Call) and operation(self.module, self.flow, n) == "load":
                if is_volatile(self.module, self.flow, n):
                    return None
            if isinstance(n, ast.NamedExpr):
                return None
            if isinstance(n, ast.Name):
                made = self.flow.reaching.get(n)
                if made is None and n.id in self.kernel.parameter_names:
                    return None
                parts.append(id(made) if made is not None else n.id)
        return tuple(parts)

    def _reads_memory(self, node: ast.expr) -> bool:
        """True where a part of it loads, itself or in a helper: all calls but those of known functions may."""
        for n in ast.walk(node):
            if isinstance(n, ast.Call):
                name = operation(self.module, self.flow, n)
                if name is None or name in ("load", "gather"):
                    return True
        return False

    def _may_reuse(self, first: ast.expr, repeat: ast.expr) -> bool:
        if not has_run(self.flow, self.kernel.constexprs, first, repeat):
            self.unsure.append((first, repeat))
            return False
        if self._reads_memory(first):
            if self._waits(first, repeat):
                return False
            writes = writes_between(self.module, self.flow, first, repeat)
            if writes:
                self.written.append((first, repeat, writes[0]))
                return False
        return True

    def _waits(self, first: ast.expr, repeat: ast.expr) -> bool:
        """True where the repeat stands in a `while` that the first is outside of: it may wait for another program."""
        return any(isinstance(n, ast.While) for n in self._loops(repeat) if n not in self._loops(first))

    def _loops(self, node: ast.expr) -> list[ast.stmt]:
        statement = self.flow.statement(node)
        head = [statement] if isinstance(statement, ast.While) else []
        return [*self.flow.loops_around(node), *head]

    def _lift(self, first: ast.expr, repeats: list[ast.expr]) -> tuple[ast.expr, list[ast.expr]]:
        """The largest expressions around them that are still the same."""
        while True:
            above = self._parent(first)
            parents = [self._parent(r) for r in repeats]
            if above is None or any(p is None or p is above for p in parents) or len(set(parents)) < len(parents):
                return first, repeats
            key = self._key(above)
            if key is None or any(self._key(p) != key for p in parents if p is not None):
                return first, repeats
            pairs = [(above, p) for p in parents if p is not None]
            if not all(has_run(self.flow, self.kernel.constexprs, *pair) for pair in pairs):
                return first, repeats
            if self._reads_memory(above) and any(writes_between(self.module, self.flow, *pair) for pair in pairs):
                return first, repeats
            first, repeats = above, [p for p in parents if p is not None]

    def _parent(self, node: ast.expr) -> ast.expr | None:
        """The expression around it that has a value of its own: `x.to(t)` for `x`, a sum for a summand."""
        parent = self.flow.parents[node]
        if isinstance(parent, ast.Attribute):
            call = self.flow.parents[parent]
            return call if isinstance(call, ast.Call) and call.func is parent else None
        if isinstance(parent, ast.Call) and parent.func is node:
            return None
        return parent if isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript)) else None


def _outermost(groups: list[tuple[ast.expr, list[ast.expr]]]) -> list[tuple[ast.expr, list[ast.expr]]]:
    """Groups without those whose parts lie inside the parts of a larger one."""
    kept: list[tuple[ast.expr, list[ast.expr]]] = []
    covered: set[ast.AST] = set()
    for first, repeats in sorted(groups, key=lambda g: -sum(1 for _ in ast.walk(g[0]))):
        left = [r for r in repeats if r not in covered]
        if left and first not in covered:
            kept.append((first, left))
            covered |= {n for part in (first, *left) for n in ast.walk(part)}
    return sorted(kept, key=lambda g: position(g[0]))


class _Writer:
    def __init__(
        self, module: Module, kernel: KernelDef, flow: Flow, groups: list[tuple[ast.expr, list[ast.expr]]]
    ) -> None:
        self.module, self.kernel, self.flow, self.groups = module, kernel, flow, groups
        self.taken = names_in_use(module, kernel)
        self.lines: dict[ast.stmt, list[str]] = {}

    def edits(self) -> list[Edit]:
        edits: list[Edit] = []
        for first, repeats in self.groups:
            kept = self._name_of(first, repeats)
            name = kept or self._new_name(first)
            usable = [r for r in repeats if not self._sets(r, name)]
            if not usable or (kept is None and not self._can_insert(first)):
                continue
            if kept is None:
                statement = self.flow.statement(first)
                text = self.module.source.segment(first)
                # Brackets around it may have let it go on in the next line; they stay behind.
                text = f"({text})" if "\n" in text or "\r" in text else text
                self.lines.setdefault(statement, []).append(f"{name} = {text}")
                edits.append(Edit(*bracketed_span(self.module.source, first), name))
                self.taken.add(name)
            edits += [Edit(*bracketed_span(self.module.source, r), name) for r in usable]
        for statement, lines in self.lines.items():
            inserted = insert_lines(self.module.source, None, statement, lines)
            assert inserted is not None
            edits.append(inserted)
        return edits

    def _sets(self, repeat: ast.expr, name: str) -> bool:
        """True for `x = <repeat>` where x already holds it: nothing is left to write."""
        statement = self.flow.statement(repeat)
        return (
            isinstance(statement, ast.Assign)
            and statement.value is repeat
            and any(isinstance(t, ast.Name) and t.id == name for t in statement.targets)
        )

    def _name_of(self, first: ast.expr, repeats: list[ast.expr]) -> str | None:
        """The name that the first is assigned to, where it still holds it at every repeat."""
        statement = self.flow.statement(first)
        if not isinstance(statement, ast.Assign) or statement.value is not first or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, ast.Name):
            return None
        for repeat in repeats:
            for node in between(self.flow, statement, repeat):
                if isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Store):
                    if node is not target and not (
                        self._same_loops(first, repeat) and self.flow.statement(node) is self.flow.statement(repeat)
                    ):
                        return None  # Set anew; by the repeat's own statement it is set after the repeat was read.
        return target.id

    def _same_loops(self, one: ast.AST, two: ast.AST) -> bool:
        return self.flow.loops_around(one) == self.flow.loops_around(two)

    def _can_insert(self, first: ast.expr) -> bool:
        """True where a line may be put before the statement: it starts its line and is no `elif`."""
        statement = self.flow.statement(first)
        source = self.module.source
        start = source.span(statement)[0]
        if source.text.startswith("elif", start) or isinstance(statement, ast.While):
            return False
        if self._waits_for_its_statement(statement, first):
            return False
        return insert_lines(source, None, statement, [""]) is not None

    def _waits_for_its_statement(self, statement: ast.stmt, first: ast.expr) -> bool:
        """True where the statement sets a name, or changes memory, before it gets to the expression."""
        for n in ast.walk(statement):
            if position(n) >= position(first):
                continue
            if isinstance(n, ast.NamedExpr):
                return True
            if isinstance(n, ast.Call) and end_position(n) <= position(first):
                if changes_memory(self.module, self.flow, n):
                    return True
        return False

    def _new_name(self, first: ast.expr) -> str:
        call = next(n for n in ast.walk(first) if isinstance(n, ast.Call))
        inner = [n for n in ast.walk(first) if isinstance(n, ast.Call)]
        names = [operation(self.module, self.flow, c) for c in (*inner, call)]
        known = next((n for n in names if n == "load" or n in TRANSCENDENTAL), "value")
        stem = f"b_{known}"
        if known == "load":
            loads = [c for c in inner if operation(self.module, self.flow, c) == "load"]
            bases = [n.id for n in ast.walk(loads[0].args[0]) if isinstance(n, ast.Name)]
            parameters = [b for b in bases if b in self.kernel.parameter_names and b not in self.kernel.constexprs]
            stem = f"b_{(parameters or bases or ['load'])[0].removesuffix('_ptr')}"
        name, number = stem, 1
        while name in self.taken:
            number += 1
            name = f"{stem}_{number}"
        return name


PRIMITIVE = Primitive("reuse_subexpression", reuse_subexpression, NumericsClass.BITWISE)
