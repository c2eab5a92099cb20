"""elide_masks: loads in a loop without the mask of a tail that is not there.

rewrite:  for k in range(tl.cdiv(K, BK)):             ->  for k in range(tl.cdiv(K, BK)):
              b = tl.load(p, mask=o < K - k * BK,             if K % BK == 0:
                          other=0.0)                              b = tl.load(p)
                                                              else:
                                                                  b = tl.load(p, mask=o < K - k * BK, other=0.0)

The branch is decided at compile time. Where the dimension is known at run time only, it is a constexpr parameter that
the launches set: `EVEN_K=K % BK == 0`.

Conditions
    - the part of the mask that goes is a comparison `lanes + tile < K`, in whatever arrangement: the lanes are
      `tl.arange(0, BK)`; the tile is nothing, the variable of `range(0, K, BK)` or the product of BK with the variable
      of `range(tl.cdiv(K, BK))`, of a loop around; then K a multiple of BK (without a tile: K, a constexpr, at least
      BK) makes it true in every lane;
    - K and BK are parameters that the kernel never sets, BK a constexpr;
    - the pointers have the shape of the mask, so that the load keeps it;
    - the load is assigned in a statement of its own, and no branch around it chooses between mask and no mask already;
    - of a run-time K: every launch is read and gives both as names, numbers or sizes, and no heuristic computes them.
    Loads that do not meet them are left; where none does, the primitive refuses.

Numerics
    `bitwise`: the same elements are loaded.

Refuses: pattern_not_found, already_applied, mask_not_proved, name_taken, unknown_construct, unreadable_launch,
no_launch_site.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from skel.store.schema import NumericsClass

from ..analysis.facts import Facts, analyse
from ..analysis.flow import Definition, Flow, flow_of
from ..analysis.operators import expanded_dims, is_method, operation
from ..analysis.syntax import is_constexpr_test
from ..conditions.load_shape import pointers_have_shape_of
from ..kernel.autotune import may_be_computed
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.insert import insert_arguments, insert_parameters
from ..kernel.launch import Launch, calls_of, readable_launches
from ..kernel.plain import is_plain, written
from ..reasons import Refuse, refuse
from .base import Primitive
from .names import language_name, names_in_use

UNIT = "    "
"""One step of indentation of what is added."""


@dataclass(frozen=True)
class Even:
    """What makes a mask true everywhere: `dimension % tile == 0`, or `dimension >= tile` where nothing walks tiles."""

    dimension: str
    tile: str
    walks: bool

    @property
    def test(self) -> str:
        return f"{self.dimension} % {self.tile} == 0" if self.walks else f"{self.dimension} >= {self.tile}"

    @property
    def flag(self) -> str:
        return f"EVEN_{self.dimension}" if self.walks else f"FULL_{self.dimension}"


@dataclass
class Elided:
    """One statement with loads whose masks lose something."""

    statement: ast.Assign | ast.AugAssign
    edits: list[Edit]
    evens: list[Even]


def elide_masks(module: Module, kernel: KernelDef) -> list[Edit]:
    """Edits that give every provable load in a loop a branch without the tail mask. Raises Refuse."""
    flow = flow_of(kernel.node)
    if flow.opaque:
        statement = flow.opaque[0]
        raise refuse("unknown_construct", statement, construct=f"`{type(statement).__name__.lower()}`")
    search = _Search(module, kernel, flow)
    found = search.found()
    if not found:
        if search.chosen:
            raise refuse("already_applied", search.chosen[0], kernel=kernel.name, skeleton="elide_masks")
        if search.unproved:
            raise refuse("mask_not_proved", search.unproved[0], also=search.unproved[1:])
        raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="elide_masks")
    runtime = list(dict.fromkeys(e for one in found for e in one.evens if e.dimension not in kernel.constexprs))
    edits: list[Edit] = []
    if runtime:
        try:
            edits = even_parameters(module, kernel, runtime)
        except Refuse:
            # What the launches cannot tell stays; what the kernel knows by itself need not.
            found = [one for one in found if not set(one.evens) & set(runtime)]
            if not found:
                raise
    tests = {
        one.statement: " and ".join(e.flag if e in runtime else e.test for e in dict.fromkeys(one.evens))
        for one in found
    }
    for run in _runs(flow, found, tests):
        edits.append(_branch(module, run, tests[run[0].statement]))
    return edits


def _runs(flow: Flow, found: list[Elided], tests: dict[ast.Assign | ast.AugAssign, str]) -> list[list[Elided]]:
    """Statements that follow each other with one test between them share a branch."""
    runs: list[list[Elided]] = []
    for one in found:
        last = runs[-1][-1].statement if runs else None
        if last is not None and tests[last] == tests[one.statement] and _follows(flow, last, one.statement):
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def _follows(flow: Flow, one: ast.stmt, two: ast.stmt) -> bool:
    """True for neighbours in one block."""
    parent = flow.parents[one]
    for field in ("body", "orelse"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and one in block:
            at = block.index(one) + 1
            return at < len(block) and block[at] is two
    return False


def even_parameters(module: Module, kernel: KernelDef, evens: list[Even]) -> list[Edit]:
    """The constexpr parameters, and what every launch passes for them. Raises Refuse."""
    language = language_name(module, kernel)
    if language is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    flags = [e.flag for e in evens]
    taken = next((f for f in flags if f in names_in_use(module, kernel)), None)
    if taken is not None or len(set(flags)) < len(flags):
        raise refuse("name_taken", kernel.node, name=taken or flags[0], scope=kernel.name)
    if kernel.node.args.vararg is not None or kernel.node.args.kwarg is not None:
        raise refuse("unknown_construct", kernel.node, construct="a parameter of any number of arguments")
    if calls_of(module, kernel):
        raise refuse("unreadable_launch", kernel.node, kernel=kernel.name, why="it is also called as a function")
    if any(may_be_computed(kernel, name) for e in evens for name in (e.dimension, e.tile)):
        why = f"a heuristic may compute {evens[0].dimension} or {evens[0].tile}, whatever is passed"
        raise refuse("unreadable_launch", kernel.node, kernel=kernel.name, why=why)
    launches = readable_launches(module, kernel)
    parameters = [f"{flag}: {language}.constexpr" for flag in flags]
    edits = insert_parameters(module.source, kernel.node, parameters)
    for launch in launches:
        arguments = [f"{e.flag}={_argument(module, launch, e)}" for e in evens]
        edits += insert_arguments(module.source, launch.call, arguments)
    return edits


_ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call)


def _argument(module: Module, launch: Launch, even: Even) -> str:
    """The test in the launcher's terms. Raises Refuse(unreadable_launch)."""
    texts = {}
    for name in (even.dimension, even.tile):
        given = launch.arguments.get(name)
        if given is None or not is_plain(module, given) or launch.splats:
            why = f"{name} is not given there as a name, a number or a size"
            raise refuse("unreadable_launch", launch.call, kernel=launch.kernel.name, why=why)
        text = written(module, given)
        texts[name] = text if isinstance(given, _ATOMS) else f"({text})"
    dimension, tile = texts[even.dimension], texts[even.tile]
    return f"{dimension} % {tile} == 0" if even.walks else f"{dimension} >= {tile}"


def _branch(module: Module, run: list[Elided], test: str) -> Edit:
    """`if test:` the statements without the masks, `else:` as they were."""
    source = module.source
    start, end = source.span(run[0].statement)[0], source.span(run[-1].statement)[1]
    indent, newline = source.indent(run[0].statement), source.newline
    text = source.text[start:end]
    short = text
    for edit in sorted((e for one in run for e in one.edits), reverse=True):
        short = short[: edit.start - start] + edit.replacement + short[edit.end - start :]
    first, second = (_indented(part, newline) for part in (short, text))
    arm = newline + indent + UNIT
    return Edit(start, end, f"if {test}:{arm}{first}{newline}{indent}else:{arm}{second}")


def _indented(text: str, newline: str) -> str:
    """Further lines one step deeper; empty ones stay empty."""
    lines = text.split(newline)
    return newline.join([lines[0], *(UNIT + line if line.strip() else line for line in lines[1:])])


class _Search:
    def __init__(self, module: Module, kernel: KernelDef, flow: Flow) -> None:
        self.module, self.kernel, self.flow = module, kernel, flow
        self.facts: Facts = analyse(module, kernel)
        self.unproved: list[ast.AST] = []
        self.chosen: list[ast.AST] = []

    def found(self) -> list[Elided]:
        """Statements in loops with loads whose masks are provable, in source order."""
        elided: dict[ast.stmt, Elided] = {}
        calls = [n for s in self.kernel.node.body for n in ast.walk(s) if isinstance(n, ast.Call)]
        for call in sorted(calls, key=lambda n: (n.lineno, n.col_offset)):
            if operation(self.module, self.flow, call) != "load" or is_method(self.module, self.flow, call):
                continue
            statement = self.flow.statement(call)
            mask = next((k for k in call.keywords if k.arg == "mask"), None)
            if mask is None or len(call.args) != 1 or not self.flow.loops_around(call):
                continue
            if any(k.arg is None for k in call.keywords) or not isinstance(statement, (ast.Assign, ast.AugAssign)):
                continue
            edits, evens = self._shorter(call, mask)
            if not evens:
                self.unproved.append(call)
            elif self._is_chosen(call, evens):
                self.chosen.append(call)
            elif self._stands_alone(statement):
                one = elided.setdefault(statement, Elided(statement, [], []))
                one.edits += edits
                one.evens += evens
        return list(elided.values())

    def _stands_alone(self, statement: ast.stmt) -> bool:
        """True where a statement has its lines to itself and holds no text that indenting would change."""
        source = self.module.source
        start, end = source.span(statement)
        assert statement.end_lineno is not None
        before = source.text[source.line_start(statement.lineno) : start]
        after = source.text[end : source.line_start(statement.end_lineno + 1)].strip()
        strings = [n for n in ast.walk(statement) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        whole = not any((n.end_lineno or 0) > n.lineno for n in strings)
        return not before.strip() and (not after or after.startswith("#")) and whole

    def _is_chosen(self, call: ast.Call, evens: list[Even]) -> bool:
        """True where a branch around it decides at compile time, and its other arm loads the same place."""
        node: ast.AST = call
        while node is not self.kernel.node:
            parent = self.flow.parents[node]
            if isinstance(parent, ast.If) and is_constexpr_test(parent.test, self.kernel.constexprs):
                other = parent.orelse if any(s is node for s in parent.body) else parent.body
                address = ast.dump(call.args[0])
                for n in (n for s in other for n in ast.walk(s)):
                    if isinstance(n, ast.Call) and n.args and ast.dump(n.args[0]) == address:
                        return True
            node = parent
        return False

    def _shorter(self, call: ast.Call, mask: ast.keyword) -> tuple[list[Edit], list[Even]]:
        """The edits of one load that drop what is proved, and under what."""
        parts = _conjuncts(mask.value)
        proved = {part: even for part in parts if (even := self._proved(part)) is not None}
        if not proved:
            return [], []
        if not pointers_have_shape_of(self.facts, call.args[0], mask.value):
            return [], []
        source = self.module.source
        left = [p for p in parts if p not in proved]
        if left:
            texts = [self._bracketed(p, len(left) > 1) for p in left]
            return [Edit(*source.span(mask.value), " & ".join(texts))], list(proved.values())
        kept = [source.segment(a) for a in call.args]
        for keyword in call.keywords:
            if keyword.arg not in ("mask", "other"):
                kept.append(source.segment(keyword))
        head = source.segment(call.func)
        return [Edit(*source.span(call), f"{head}({', '.join(kept)})")], list(proved.values())

    def _bracketed(self, part: ast.expr, needed: bool) -> str:
        text = self.module.source.segment(part)
        return f"({text})" if needed and not isinstance(part, (ast.Name, ast.Subscript, ast.Call)) else text

    def _proved(self, part: ast.expr) -> Even | None:
        """What makes a part of a mask true in every lane; None where nothing simple does."""
        node = self._resolved(part)
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            return None
        small, large = (node.left, node.comparators[0])
        if isinstance(node.ops[0], ast.Gt):
            small, large = large, small
        elif not isinstance(node.ops[0], ast.Lt):
            return None
        terms = [*self._terms(small, 1), *self._terms(large, -1)]
        lanes = [t for s, t in terms if s == 1 and self._lanes(t) is not None]
        bounds = [t for s, t in terms if s == -1 and self.flow.parameter(t) is not None]
        if len(lanes) != 1 or len(bounds) != 1:
            return None
        tile, dimension = self._lanes(lanes[0]), self.flow.parameter(bounds[0])
        rest = [(s, t) for s, t in terms if t is not lanes[0] and t is not bounds[0]]
        assert tile is not None and dimension is not None
        if dimension == tile or tile not in self.kernel.constexprs:
            return None
        if not rest:
            # Of a run-time length, a flag for each launch would compile a kernel for each kind of length.
            return Even(dimension, tile, False) if dimension in self.kernel.constexprs else None
        if len(rest) == 1 and rest[0][0] == 1 and self._walks(rest[0][1], dimension, tile):
            return Even(dimension, tile, True)
        return None

    def _resolved(self, node: ast.expr) -> ast.expr:
        """Behind added dimensions and names that stand for one expression."""
        for _ in range(16):
            view = expanded_dims(node)
            if view is not None:
                node = view[0]
                continue
            made = self.flow.definition(node)
            if made is None or made.kind != "assign" or made.value is None or not self._still(made):
                return node
            node = made.value
        return node

    def _still(self, made: Definition) -> bool:
        """True where what the name was computed from has not been set since: each name in it has one value."""
        assert made.value is not None
        for n in ast.walk(made.value):
            if isinstance(n, ast.Name) and n in self.flow.reaching:
                source = self.flow.reaching[n]
                if source.kind not in ("parameter", "assign", "loop") or self.flow.times_set(n.id) > 1:
                    return False
        return True

    def _terms(self, node: ast.expr, sign: int) -> list[tuple[int, ast.expr]]:
        """The summands of an expression with their signs."""
        node = self._resolved(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            other = sign if isinstance(node.op, ast.Add) else -sign
            return [*self._terms(node.left, sign), *self._terms(node.right, other)]
        if isinstance(node, ast.Constant) and node.value == 0:
            return []
        return [(sign, node)]

    def _lanes(self, node: ast.expr) -> str | None:
        """BK of `tl.arange(0, BK)`."""
        node = self._resolved(node)
        if not isinstance(node, ast.Call) or operation(self.module, self.flow, node) != "arange":
            return None
        if len(node.args) != 2 or not isinstance(node.args[0], ast.Constant) or node.args[0].value != 0:
            return None
        return self.flow.parameter(node.args[1])

    def _walks(self, node: ast.expr, dimension: str, tile: str) -> bool:
        """True for the offset of a tile that a loop over the dimension is at."""
        factors = [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else [node]
        variables = [f for f in factors if (d := self.flow.definition(f)) is not None and d.kind == "loop"]
        if len(variables) != 1:
            return False
        made = self.flow.definition(variables[0])
        others = [f for f in factors if f is not variables[0]]
        if made is None or not isinstance(made.value, ast.Call) or self.flow.times_set(made.name) > 1:
            return False
        bounds = self._range(made.value)
        if bounds is None:
            return False
        start, stop, step = bounds
        if not isinstance(start, ast.Constant) or start.value != 0:
            return False
        if not others:
            return self.flow.parameter(stop) == dimension and step is not None and self.flow.parameter(step) == tile
        if not isinstance(stop, ast.Call) or operation(self.module, self.flow, stop) != "cdiv" or len(stop.args) != 2:
            return False
        counted = self.flow.parameter(stop.args[0]), self.flow.parameter(stop.args[1])
        return step is None and self.flow.parameter(others[0]) == tile and counted == (dimension, tile)

    def _range(self, call: ast.Call) -> tuple[ast.expr, ast.expr, ast.expr | None] | None:
        """Start, stop and step of a range; no step is one."""
        builtin = isinstance(call.func, ast.Name) and call.func.id == "range" and call.func not in self.flow.reaching
        if not builtin and operation(self.module, self.flow, call) not in ("range", "static_range"):
            return None
        arguments = [a for a in call.args if not isinstance(a, ast.Starred)]
        if len(arguments) != len(call.args) or any(k.arg in ("arg1", "arg2", "step") for k in call.keywords):
            return None
        if len(arguments) == 1:
            return ast.Constant(0), self._plain(arguments[0]), None
        if len(arguments) in (2, 3):
            return arguments[0], self._plain(arguments[1]), arguments[2] if len(arguments) == 3 else None
        return None

    def _plain(self, node: ast.expr) -> ast.expr:
        return self._resolved(node)


def _conjuncts(mask: ast.expr) -> list[ast.expr]:
    if isinstance(mask, ast.BinOp) and isinstance(mask.op, ast.BitAnd):
        return [*_conjuncts(mask.left), *_conjuncts(mask.right)]
    return [mask]


PRIMITIVE = Primitive("elide_masks", elide_masks, NumericsClass.BITWISE)
