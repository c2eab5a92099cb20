"""defer_state_load: an accumulator of zeros that a load is added to just before its loop.

rewrite:  b_h = tl.zeros([BK, BV], dtype=tl.float32)  ->  b_h = tl.zeros([BK, BV], dtype=tl.float32)
          if USE_INITIAL_STATE:                           if USE_INITIAL_STATE:
              b_h += tl.load(p_h0).to(tl.float32)             b_h = tl.load(p_h0).to(tl.float32)

          b_h += tl.load(p_h0).to(tl.float32)         ->  if T <= 0:
          for t in range(0, T):                               b_h += tl.load(p_h0).to(tl.float32)
                                                          for t in range(0, T):
                                                              if t == 0:
                                                                  b_h += tl.load(p_h0).to(tl.float32)

The first form, `direct`, starts from the load. The second, `first_round`, adds it in the first round of the loop, so
that the load does not fix the layout in which the loop carries the accumulator. Where the loop has no round, the
guard adds the state before it, as ever.

Conditions
    - the accumulator is `tl.zeros` where the load is added, in every arm of a branch that sets it, and a loop that is
      not unrolled carries it from there;
    - direct: the load has the accumulator's shape and type;
    - first_round: a loop over `range` with a step of one; the load stands under constexpr branches only, beside the
      loop or in a branch beside it; nothing between reads or sets the accumulator or writes memory; the loop does not
      set what the load reads, and its bounds load nothing.

Numerics
    `bitwise`: adding zero changes no value. `direct` keeps the sign of a negative zero, which adding to zero drops:
    equal in every comparison; only a division by it could tell.

Refuses: pattern_not_found, state_not_zero, loop_not_first, bad_setting, unknown_construct.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from skel.store.schema import NumericsClass, Refusal

from ..analysis.effects import reads_memory_or_acts, writes_between
from ..analysis.facts import Facts, analyse
from ..analysis.flow import Definition, Flow, assigned_names, flow_of
from ..analysis.operators import operand, operation
from ..analysis.syntax import is_constexpr_test
from ..analysis.types import TypeAnalysis
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.text import operator_span
from ..reasons import Refuse, refusal, refuse
from .base import Primitive

FORMS = ("direct", "first_round")


@dataclass(frozen=True)
class Added:
    """`b_h += <load>` before a loop that carries b_h."""

    statement: ast.AugAssign
    made: Definition
    load: ast.Call
    loop: ast.For | ast.While


def defer_state_load(module: Module, kernel: KernelDef, form: str = "direct") -> list[Edit]:
    """Edits for every accumulator of the kernel that `form` fits. Raises Refuse."""
    if form not in FORMS:
        raise refuse("bad_setting", kernel.node, setting="form", value=form, why="it is direct or first_round")
    flow = flow_of(kernel.node)
    if flow.opaque:
        statement = flow.opaque[0]
        raise refuse("unknown_construct", statement, construct=f"`{type(statement).__name__.lower()}`")
    rewrite = _Rewrite(module, kernel, flow)
    found = rewrite.found()
    if not found:
        raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="defer_state_load")
    edits: list[Edit] = []
    reasons: list[Refusal] = []
    for added in found:
        reason = rewrite.problem(added, form)
        if reason is not None:
            reasons.append(reason)
        elif form == "direct":
            edits.append(Edit(*operator_span(module.source, added.statement, "+="), "="))
        else:
            edits += rewrite.in_first_round(added)
    if not edits:
        raise Refuse(reasons[0], reasons[1:])
    return _merged(edits)


def _arms(made: Definition) -> list[Definition]:
    """What a value may be after a branch that sets it in every arm; the definition itself where no branch does."""
    return [arm for source in made.sources for arm in _arms(source)] if made.kind == "join" else [made]


def _merged(edits: list[Edit]) -> list[Edit]:
    """Edits with what is inserted at one place put together, in order."""
    inserted: dict[int, str] = {}
    for edit in edits:
        if edit.start == edit.end:
            inserted[edit.start] = inserted.get(edit.start, "") + edit.replacement
    return [e for e in edits if e.start != e.end] + [Edit(at, at, text) for at, text in inserted.items()]


class _Rewrite:
    def __init__(self, module: Module, kernel: KernelDef, flow: Flow) -> None:
        self.module, self.kernel, self.flow = module, kernel, flow
        self.types = TypeAnalysis(module, kernel, flow)
        self.facts: Facts = analyse(module, kernel)

    def found(self) -> list[Added]:
        """Every load that is added to an accumulator which a later loop carries."""
        found = []
        for made in self.flow.definitions:
            statement = made.statement
            if made.kind != "augmented" or not isinstance(statement, ast.AugAssign):
                continue
            load = self._load(statement.value)
            loop = self._loop(made, set())
            if isinstance(statement.op, ast.Add) and load is not None and loop is not None:
                found.append(Added(statement, made, load, loop))
        return found

    def _load(self, node: ast.expr) -> ast.Call | None:
        """The load behind casts."""
        while isinstance(node, ast.Call):
            name = operation(self.module, self.flow, node)
            if name == "load":
                return node if node.args else None
            inner = operand(self.module, self.flow, node, 0, "input") if name in ("to", "cast") else None
            if inner is None:
                return None
            node = inner
        return None

    def _loop(self, made: Definition, seen: set[Definition]) -> ast.For | ast.While | None:
        for later in made.feeds:
            if later in seen:
                continue
            seen.add(later)
            if later.kind == "carry" and isinstance(later.node, (ast.For, ast.While)):
                if later.node not in made.loops and not self._is_unrolled(later.node):
                    return later.node
            elif later.kind == "join":
                found = self._loop(later, seen)
                if found is not None:
                    return found
        return None

    def _is_unrolled(self, loop: ast.For | ast.While) -> bool:
        return isinstance(loop, ast.For) and operation(self.module, self.flow, loop.iter) == "static_range"

    def problem(self, added: Added, form: str) -> Refusal | None:
        """Why the form does not fit; None where it does."""
        source = added.made.sources[0] if added.made.sources else None
        if source is None or not self._is_zeros(source):
            return refusal("state_not_zero", added.statement, name=added.made.name)
        if form != "direct":
            return self._first_round(added)
        arms = _arms(source)
        return next((r for zeros in arms if (r := self._direct(added, zeros, len(arms) > 1)) is not None), None)

    def _is_zeros(self, made: Definition) -> bool:
        return all(
            one.kind == "assign"
            and one.value is not None
            and one.statement is not None
            and operation(self.module, self.flow, one.value) == "zeros"
            for one in _arms(made)
        )

    def _direct(self, added: Added, zeros: Definition, one_of_several: bool) -> Refusal | None:
        given, held = self.types.of(added.statement.value), self.types.definition(zeros)
        if given is None or given != held or len(given) != 1:
            return refusal("state_not_zero", added.statement, also=[zeros.line], name=added.made.name)
        assert zeros.value is not None
        for events in self.facts.runs:
            elsewhere = one_of_several and zeros.value not in events.values
            if added.statement.value not in events.values or elsewhere:
                continue
            shapes = [events.values[n].dims for n in (added.statement.value, zeros.value) if n in events.values]
            sizes = [None if dims is None else [d.size for d in dims] for dims in shapes]
            if len(sizes) != 2 or sizes[0] != sizes[1] or sizes[0] is None or None in sizes[0]:
                return refusal("state_not_zero", added.statement, also=[zeros.line], name=added.made.name)
        return None

    def _first_round(self, added: Added) -> Refusal | None:
        loop, statement = added.loop, added.statement
        not_first = refusal("loop_not_first", statement, also=[loop], loop=loop.lineno)
        if not isinstance(loop, ast.For) or self._bounds(loop) is None or not isinstance(loop.target, ast.Name):
            return not_first
        tests = self._tests(statement, loop)
        if tests is None or loop.orelse:
            return not_first
        if writes_between(self.module, self.flow, statement, loop.iter):
            return not_first
        name = added.made.name
        carried = [d for d in self.flow.definitions if d.kind == "carry" and d.node is loop and d.name == name]
        entering = carried[0].sources[0]
        if not self._only_feeds(added.made, entering, loop):
            return not_first
        bounds = self._bounds(loop) or ()
        if any(reads_memory_or_acts(self.module, self.flow, b) for b in bounds if hasattr(b, "lineno")):
            return not_first  # The bounds are asked for again, before the loop and in each round.
        if any(isinstance(n, ast.NamedExpr) for part in (statement.value, *tests) for n in ast.walk(part)):
            return not_first
        if loop.body[0].lineno == loop.lineno:
            return not_first
        guard = f"{self._text(bounds[1])} <= {self._text(bounds[0])}" if bounds else ""
        if any(self._text(t) == guard for t in tests):
            return not_first  # It is in the first round already; this is what is left for no rounds.
        read = {n.id for part in (statement.value, *tests, *bounds) for n in ast.walk(part) if isinstance(n, ast.Name)}
        set_inside = set(assigned_names(loop.body))
        set_between = {
            n.id
            for n in ast.walk(self.kernel.node)
            if isinstance(n, ast.Name)
            and isinstance(n.ctx, ast.Store)
            and (statement.end_lineno or 0) < n.lineno < loop.lineno
        }
        if read & (set_inside | set_between | {loop.target.id}) or loop.target.id in set_inside:
            return not_first
        source = self.module.source
        start, end = source.span(statement)
        after = source.text[end : source.line_start((statement.end_lineno or statement.lineno) + 1)].strip()
        if source.text[source.line_start(statement.lineno) : start].strip() or (after and not after.startswith("#")):
            return not_first
        return None

    def _only_feeds(self, made: Definition, entering: Definition, loop: ast.stmt) -> bool:
        """True where nothing but the loop sees the accumulator after the load was added to it."""
        current = made
        while current is not entering:
            if current.uses or len(current.feeds) != 1 or current.feeds[0].kind != "join":
                return False
            current = current.feeds[0]
        return not current.uses and all(f.kind == "carry" and f.node is loop for f in current.feeds)

    def _tests(self, statement: ast.stmt, loop: ast.stmt) -> list[ast.expr] | None:
        """The constexpr tests around the statement, outermost first, up to the block that holds the loop."""
        tests: list[ast.expr] = []
        node: ast.AST = statement
        outer = self.flow.parents[loop]
        while self.flow.parents[node] is not outer:
            parent = self.flow.parents[node]
            if not isinstance(parent, ast.If) or not is_constexpr_test(parent.test, self.kernel.constexprs):
                return None
            if any(s is node for s in parent.orelse):
                return None
            tests.insert(0, parent.test)
            node = parent
        block = next(b for b in (getattr(outer, f, []) for f in ("body", "orelse")) if loop in b)
        return tests if node in block and block.index(node) < block.index(loop) else None

    def _bounds(self, loop: ast.For) -> tuple[ast.expr, ast.expr] | None:
        """Start and stop of a range with a step of one."""
        call = loop.iter
        if not isinstance(call, ast.Call) or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        builtin = isinstance(call.func, ast.Name) and call.func.id == "range" and call.func not in self.flow.reaching
        if not builtin and operation(self.module, self.flow, call) != "range":
            return None
        if len(call.args) == 1:
            return ast.Constant(0), call.args[0]
        return (call.args[0], call.args[1]) if len(call.args) == 2 else None

    def in_first_round(self, added: Added) -> list[Edit]:
        """The load under a guard before the loop, and in its first round."""
        source, loop, statement = self.module.source, added.loop, added.statement
        assert isinstance(loop, ast.For) and isinstance(loop.target, ast.Name)
        bounds = self._bounds(loop)
        assert bounds is not None
        start, stop = (self._text(b) for b in bounds)
        here, unit = source.indent(statement), self._unit()
        at, end = source.span(statement)
        text = source.text[at:end]
        guard = Edit(at, end, f"if {stop} <= {start}:{source.newline}{here}{unit}{_shifted(text, unit)}")
        first = loop.body[0]
        inner = source.indent(first)
        lines = [f"{inner}{unit * i}if {self._text(t)}:" for i, t in enumerate(self._tests(statement, loop) or [])]
        depth = unit * len(lines)
        lines += [f"{inner}{depth}if {loop.target.id} == {start}:"]
        body = _shifted(text, inner + depth + unit, here)
        lines.append(f"{inner}{depth}{unit}{body}")
        place = source.line_start(first.lineno)
        return [guard, Edit(place, place, "".join(line + source.newline for line in lines))]

    def _text(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and not hasattr(node, "lineno"):
            return str(node.value)
        text = " ".join(self.module.source.segment(node).split())
        plain = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.BinOp, ast.Compare, ast.UnaryOp, ast.BoolOp)
        return text if isinstance(node, plain) else f"({text})"

    def _unit(self) -> str:
        return self.module.source.indent(self.kernel.node.body[0])[len(self.module.source.indent(self.kernel.node)) :]


def _shifted(text: str, by: str, old: str = "") -> str:
    """Further lines of a statement, moved with its first."""
    lines = text.split("\n")
    return "\n".join([lines[0], *(by + line.removeprefix(old) if line.strip() else line for line in lines[1:])])


PRIMITIVE = Primitive("defer_state_load", defer_state_load, NumericsClass.BITWISE, ("form",))
