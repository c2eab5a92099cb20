"""The abstract interpreter: runs a kernel over abstract values, both arms of every branch, loops to a fixpoint."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from ..kernel.definition import KernelDef, Module
from . import poly as P
from .arithmetic import binary, compare, elementwise, logical, union
from .callees import Callee, find_callee
from .events import Condition, Events, Exit, Unknown
from .joins import conflicting, join, join_all, join_environments, taint
from .operations import DTYPES
from .syntax import assigned_names, bind_arguments, constant, is_constexpr_test, rooted_in, symbols_in
from .value import Environment, Lost, Value

MAX_INLINE = 6
"""Depth of helper calls followed."""


@dataclass(slots=True)
class Frame:
    """One function being interpreted: the kernel itself, or a helper inlined into it."""

    module: Module
    function: ast.FunctionDef
    path: tuple[int, ...]
    """Lines of the calls, outermost first."""
    returned: list[Value]
    top: ast.stmt | None = None
    conditions: int = 0
    """Conditions that hold around the call."""
    calls: tuple[int, ...] = ()
    """What tells these calls from others of the same lines."""


class Interpreter:
    """Interprets one kernel. `fixed` gives constexpr tests (by source text) a known outcome."""

    def __init__(self, module: Module, kernel: KernelDef, fixed: dict[str, bool] | None = None) -> None:
        self.module = module
        self.kernel = kernel
        self.fixed = fixed or {}
        self.events = Events()
        self.conditions: list[Condition] = []
        self.loop_depth = 0
        self.frame = Frame(module, kernel.node, (), [])
        self.stored_cross: dict[str, Value] = {}

    def run(self) -> Events:
        """Interpret the kernel. Twice where partial sums go through memory, so that reloads see the stores."""
        for _ in range(2):
            before = dict(self.stored_cross)
            env = Environment({p.name: self._parameter(p.name, p.is_constexpr) for p in self.kernel.parameters})
            self.block(self.kernel.node.body, env)
            if self.stored_cross == before:
                break
        return self.events

    def _parameter(self, name: str, is_constexpr: bool) -> Value:
        poly = P.symbol(name)
        if is_constexpr:
            return Value(poly=poly, symbols=frozenset({name}))
        # A runtime argument: a pointer or a scalar, which its use decides.
        return Value(poly=poly, symbols=frozenset({name}), bases=frozenset({name}), dtype=f"arg:{name}")

    # -- places ----------------------------------------------------------------------------------------------------

    def site(self, node: ast.AST) -> str:
        """A name for a place in the code, unique across inlined helpers."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        around = "/".join(f"{n}.{c}" for n, c in zip(self.frame.path, self.frame.calls, strict=True))
        return f"{around}@{line}:{column}"

    def key(self, node: ast.AST) -> tuple[object, ...]:
        return (*self.frame.path, *self.frame.calls, id(node))

    @property
    def top(self) -> ast.stmt:
        assert self.frame.top is not None
        return self.frame.top

    # -- statements ------------------------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt], env: Environment) -> Environment:
        for statement in body:
            if not env.reachable:
                break
            if not self.frame.path:
                self.frame.top = statement
                self.events.statements[statement] = tuple(self.conditions)
            env = self.statement(statement, env)
        return env

    def statement(self, node: ast.stmt, env: Environment) -> Environment:
        from . import loops

        match node:
            case ast.Assign():
                value = self.eval(node.value, env)
                for target in node.targets:
                    self.assign(target, value, env)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign(node.target, self.eval(node.value, env), env)
            case ast.AugAssign():
                old = self.eval(node.target, env)
                new = binary(type(node.op).__name__, old, self.eval(node.value, env), node.lineno, self.site(node))
                self.assign(node.target, new, env)
            case ast.Expr():
                self.eval(node.value, env)
            case ast.If():
                return self._if(node, env)
            case ast.For():
                return loops.run_for(self, node, env)
            case ast.While():
                return loops.run_while(self, node, env)
            case ast.Return():
                self._return(node, env)
            case ast.Assert() | ast.Pass() | ast.Global() | ast.Import() | ast.ImportFrom():
                return env
            case _:
                self._give_up(node, env)
        return env

    def _give_up(self, node: ast.stmt, env: Environment) -> None:
        """A statement that is not followed: every name it may set is unknown, from everything it may read."""
        read = [env.names[n.id] for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in env.names]
        inputs = replace(elementwise(read, node.lineno, type(node).__name__), poly=None) if read else Value()
        self.unknown(type(node).__name__, node, inputs)
        for name in assigned_names([node]):
            env.names[name] = self.lose(inputs, node, type(node).__name__)

    def assign(self, target: ast.expr, value: Value, env: Environment) -> None:
        match target:
            case ast.Name(id=name):
                env.names[name] = value
                if not self.frame.path:
                    self.events.values[target] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                items = value.items
                if items is None or len(items) != len(targets):
                    items = tuple(self.lose(value, target, "unpacking") for _ in targets)
                for one, item in zip(targets, items, strict=True):
                    self.assign(one, item, env)
            case ast.Starred():
                self.assign(target.value, self.lose(value, target, "unpacking"), env)
            case _:
                self.unknown("assignment to " + type(target).__name__, target, value)

    def _return(self, node: ast.Return, env: Environment) -> None:
        value = self.eval(node.value, env) if node.value is not None else Value()
        inside = self.conditions[self.frame.conditions :]
        for condition in inside:
            value = taint(value, condition.value, self.site(node))
        self.frame.returned.append(value)
        if inside:
            self.events.exits[self.key(node)] = Exit(node, tuple(self.conditions), self.frame.path)
        env.reachable = False

    def _if(self, node: ast.If, env: Environment) -> Environment:
        test = self.eval(node.test, env)
        text = ast.unparse(node.test)
        outcome = self.fixed.get(text) if not self.frame.path else None
        if outcome is None and isinstance(test.constant, bool):
            outcome = test.constant
        if outcome is not None:
            return self._arm(node.body if outcome else node.orelse, Condition(test, node.test, outcome), env)
        then = self._arm(node.body, Condition(test, node.test, True), env.copy())
        other = self._arm(node.orelse, Condition(test, node.test, False), env.copy())
        if not self.frame.path and is_constexpr_test(node.test, self.kernel.constexprs) and conflicting(then, other):
            self.events.conflicts.add(text)
        joined = join_environments(then, other, f"if{self.site(node)}")
        if not (then.reachable or other.reachable):
            joined.reachable = False
        elif then.reachable and other.reachable:
            # Whatever an arm sets depends on the test, also where nothing else tells its value from the other's.
            for name in assigned_names([*node.body, *node.orelse]) & then.names.keys() & other.names.keys():
                if not _surely_equal(then.names[name], other.names[name]):
                    joined.names[name] = taint(joined.names[name], test, f"{self.site(node)}:{name}")
        return joined

    def _arm(self, body: list[ast.stmt], condition: Condition, env: Environment) -> Environment:
        self.conditions.append(condition)
        top = self.frame.top
        try:
            return self.block(body, env)
        finally:
            self.conditions.pop()
            self.frame.top = top

    # -- expressions -----------------------------------------------------------------------------------------------

    def eval(self, node: ast.expr, env: Environment) -> Value:
        value = self._eval(node, env)
        if not self.frame.path:
            self.events.values[node] = value
        return value

    def _eval(self, node: ast.expr, env: Environment) -> Value:
        from . import calls, shapes

        match node:
            case ast.Name(id=name):
                return env.names[name] if name in env.names else self._global(name)
            case ast.Constant(value=literal):
                return constant(literal)
            case ast.BinOp():
                left, right = self.eval(node.left, env), self.eval(node.right, env)
                result = binary(type(node.op).__name__, left, right, node.lineno, self.site(node))
                if isinstance(node.op, ast.Div):
                    self.record_work("divide", node, result, right)
                return result
            case ast.UnaryOp():
                return self._unary(node, env)
            case ast.Compare():
                return self._compare(node, env)
            case ast.BoolOp():
                values = [self.eval(v, env) for v in node.values]
                return logical(values, isinstance(node.op, ast.And), node.lineno)
            case ast.IfExp():
                return self._if_expression(node, env)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                items = tuple(self.eval(e, env) for e in elements)
                return Value(
                    items=items, uniform=union(i.uniform for i in items), symbols=union(i.symbols for i in items)
                )
            case ast.Subscript():
                return shapes.subscript(self, node, env)
            case ast.Attribute():
                return self._attribute(node, env)
            case ast.Call():
                return calls.call(self, node, env)
            case ast.NamedExpr():
                value = self.eval(node.value, env)
                self.assign(node.target, value, env)
                return value
            case ast.JoinedStr():
                return Value()
        return self._unfollowed(node, env)

    def _if_expression(self, node: ast.IfExp, env: Environment) -> Value:
        """Like a branch: one arm where the test is known, both else; ranks that differ split on a constexpr test."""
        test = self.eval(node.test, env)
        text = ast.unparse(node.test)
        outcome = self.fixed.get(text) if not self.frame.path else None
        if outcome is None and isinstance(test.constant, bool):
            outcome = test.constant
        if outcome is not None:
            return self.eval(node.body if outcome else node.orelse, env)
        then, other = self.eval(node.body, env), self.eval(node.orelse, env)
        if not self.frame.path and is_constexpr_test(node.test, self.kernel.constexprs):
            if conflicting(Environment({text: then}), Environment({text: other})):
                self.events.conflicts.add(text)
        joined = join(then, other, f"ifexp{self.site(node)}")
        return joined if _surely_equal(then, other) else taint(joined, test, self.site(node))

    def _unfollowed(self, node: ast.expr, env: Environment) -> Value:
        read = [env.names[n.id] for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in env.names]
        inputs = elementwise(read, node.lineno, type(node).__name__) if read else Value()
        self.unknown(type(node).__name__, node, inputs)
        return self.lose(inputs, node, type(node).__name__)

    def _global(self, name: str) -> Value:
        """A module-level constant, or a name known only as itself."""
        values = self.frame.module.names.constants.get(name, ())
        if len(values) == 1:
            inner = values[0]
            if isinstance(inner, ast.Call) and len(inner.args) == 1 and not inner.keywords:
                inner = inner.args[0]
            if isinstance(inner, ast.Constant):
                return constant(inner.value)
        return Value(poly=P.opaque(f"global:{self.frame.module.source.path}:{name}"))

    def _unary(self, node: ast.UnaryOp, env: Environment) -> Value:
        value = self.eval(node.operand, env)
        if isinstance(node.op, ast.USub):
            if isinstance(value.constant, (int, float)) and not value.dims:
                return constant(-value.constant)
            return binary("Mult", constant(-1), value, node.lineno, self.site(node))
        if isinstance(node.op, ast.UAdd):
            return value
        result = replace(
            elementwise([value], node.lineno, "not"), dtype="int1" if isinstance(node.op, ast.Not) else value.dtype
        )
        if isinstance(node.op, ast.Not) and isinstance(value.constant, bool):
            return replace(result, constant=not value.constant)
        return result

    def _compare(self, node: ast.Compare, env: Environment) -> Value:
        operands = [self.eval(e, env) for e in (node.left, *node.comparators)]
        parts = [
            compare(type(op).__name__, a, b, node.lineno)
            for op, a, b in zip(node.ops, operands, operands[1:], strict=False)
        ]
        return parts[0] if len(parts) == 1 else logical(parts, True, node.lineno)

    def _attribute(self, node: ast.Attribute, env: Environment) -> Value:
        if self.frame.module.names.dotted(node) is not None and not rooted_in(node, env):
            return Value()
        value = self.eval(node.value, env)
        if node.attr == "T":
            from . import shapes

            return shapes.permuted(value, None)
        if node.attr == "value":
            return value
        # dtype, shape, type and their parts are known at compile time and the same for every tile.
        if node.attr not in ("shape", "numel"):
            return Value()
        return Value(symbols=value.symbols | union(symbols_in(d.size) for d in value.dims or ()))

    def dtype(self, node: ast.expr | None, env: Environment) -> str | None:
        """Short dtype name of a type expression: `tl.float32`, `p.dtype.element_ty`, `x.dtype`."""
        if not isinstance(node, ast.Attribute):
            return None
        name = self.frame.module.names.triton_name(node)
        if name in DTYPES:
            return DTYPES[name]
        if node.attr == "element_ty" and isinstance(node.value, ast.Attribute) and node.value.attr == "dtype":
            bases = self.eval(node.value.value, env).bases
            return f"elem:{next(iter(bases))}" if len(bases) == 1 else None
        if node.attr == "dtype":
            return self.eval(node.value, env).dtype
        return None

    # -- helpers ---------------------------------------------------------------------------------------------------

    def callee(self, function: ast.expr, env: Environment) -> Callee | None:
        """What a call reaches, unless a local name hides it."""
        if rooted_in(function, env):
            return None
        return find_callee(self.frame.module, function)

    def inline(
        self, module: Module, helper: KernelDef, node: ast.Call, args: list[Value], keywords: dict[str, Value]
    ) -> Value | None:
        """The value a helper returns for these arguments; None where it nests too deep or does not bind."""
        if len(self.frame.path) >= MAX_INLINE:
            return None
        bound = bind_arguments(helper, args, keywords)
        if bound is None:
            return None
        outer = self.frame
        self.frame = Frame(
            module,
            helper.node,
            (*outer.path, node.lineno),
            [],
            outer.top,
            len(self.conditions),
            (*outer.calls, node.col_offset),
        )
        try:
            self.block(helper.node.body, Environment(bound))
            returned = self.frame.returned
        finally:
            self.frame = outer
        return join_all(returned, f"return{self.site(node)}")

    def lose(self, value: Value, node: ast.AST, operation: str) -> Value:
        """A value of unknown shape with the same dependences: its lanes cannot be followed any more."""
        line = getattr(node, "lineno", 0)
        items = [self.lose(i, node, operation) for i in value.items or ()]
        inner = elementwise(items, line, operation) if items else value
        lost = value.lost | inner.lost | frozenset(Lost(a, line, operation) for a in value.lanes | inner.lanes)
        return Value(
            dims=None,
            uniform=value.uniform | inner.uniform,
            symbols=value.symbols | inner.symbols,
            lost=lost,
            cross=frozenset(replace(c, linear=False) for c in value.cross | inner.cross),
            memory=value.memory | inner.memory,
            bases=value.bases | inner.bases,
        )

    def unknown(self, what: str, node: ast.AST, inputs: Value) -> None:
        self.events.unknowns[self.key(node)] = Unknown(what, node, inputs)

    def record_work(self, operation: str, node: ast.Call | ast.BinOp, value: Value, operand: Value) -> None:
        from .events import Work

        self.events.work[self.key(node)] = Work(
            operation, node, value, operand, self.frame.path, self.loop_depth > 0, tuple(self.conditions)
        )


def _surely_equal(a: Value, b: Value) -> bool:
    """True where two arms surely leave the same number."""
    if a.dims != b.dims or a.bases != b.bases or a.cross or b.cross:
        return False
    return (a.poly is not None and a.poly == b.poly) or (a.constant is not None and a.constant == b.constant)
