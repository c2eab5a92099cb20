"""Which calls may change memory or wait for other programs; whether one expression has surely run before another."""

from __future__ import annotations

import ast

from ..kernel.definition import KernelDef, Module
from .flow import Flow, flow_of
from .memory import argument
from .operations import ELEMENTWISE, HINTS, NO_VALUE, REDUCTIONS, SCANS
from .operators import callee_of, is_method, operation
from .syntax import is_constexpr_test

_HARMLESS = (NO_VALUE - {"debug_barrier", "gdc_wait", "gdc_launch_dependents"}) | {
    *("load", "arange", "program_id", "num_programs", "zeros", "zeros_like", "full", "where", "dot", "dot_scaled"),
    *("cdiv", "next_power_of_2", "to", "cast", "range", "static_range", "trans", "permute", "reshape", "view"),
    *("expand_dims", "broadcast_to", "broadcast", "join", "interleave", "split", "cat", "ravel", "gather", "histogram"),
    *("make_block_ptr", "advance", "swizzle2d", "constexpr", "make_tensor_descriptor", "tuple"),
}
_PURE = frozenset(_HARMLESS | ELEMENTWISE | HINTS | REDUCTIONS | SCANS)
_BUILTINS = frozenset({"range", "len", "min", "max", "abs", "float", "int", "bool", "tuple", "isinstance"})
_DEPTH = 4


def changes_memory(module: Module, flow: Flow, call: ast.Call, depth: int = _DEPTH) -> bool:
    """True unless a call is known to write no memory and to wait for nobody."""
    name = operation(module, flow, call)
    if name is not None:
        if name == "load" and is_method(module, flow, call):
            return False
        return name not in _PURE and "libdevice." not in name
    callee = callee_of(module, flow, call)
    if callee is None:
        function = call.func
        return not (isinstance(function, ast.Name) and function.id in _BUILTINS and function not in flow.reaching)
    if callee.triton is not None and callee.triton.split(".")[0] != "extra":
        return True
    if callee.triton is not None and "libdevice" not in callee.triton:
        return True
    return depth == 0 or any(_helper_changes(m, k, depth - 1) for m, k in callee.definitions)


def _helper_changes(module: Module, helper: KernelDef, depth: int) -> bool:
    flow = flow_of(helper.node)
    calls = [n for n in ast.walk(helper.node) if isinstance(n, ast.Call)]
    inside = {n for d in helper.node.decorator_list for n in ast.walk(d)}
    return any(changes_memory(module, flow, c, depth) for c in calls if c not in inside)


def reads_memory_or_acts(module: Module, flow: Flow, node: ast.expr) -> bool:
    """True unless an expression may be evaluated again later, or once more, with the same result."""
    for n in ast.walk(node):
        if isinstance(n, ast.NamedExpr):
            return True
        if isinstance(n, ast.Call):
            name = operation(module, flow, n)
            builtin = isinstance(n.func, ast.Name) and n.func.id in _BUILTINS and n.func not in flow.reaching
            if changes_memory(module, flow, n) or name in ("load", "gather") or (name is None and not builtin):
                return True
    return False


def is_volatile(module: Module, flow: Flow, load: ast.Call) -> bool:
    """True for a load that must read memory each time: volatile, or uncached for other programs to be seen."""
    volatile = argument(load, 7, "volatile")
    modifier = argument(load, 5, "cache_modifier")
    if volatile is not None and not (isinstance(volatile, ast.Constant) and volatile.value is False):
        return True
    return modifier is not None and not (isinstance(modifier, ast.Constant) and modifier.value != ".cv")


def has_run(flow: Flow, constexprs: frozenset[str], earlier: ast.expr, later: ast.expr) -> bool:
    """True where `earlier` has surely been evaluated whenever `later` is, in the same round of every loop around it.

    Branches on the same constexpr test count as one.
    """
    one, two = flow.statement(earlier), flow.statement(later)
    if position(earlier) >= position(later) or is_conditional(flow, earlier, one):
        return False
    if isinstance(one, ast.While):
        return False
    outer, inner = _blocks(flow, constexprs, one), _blocks(flow, constexprs, two)
    if one is not two and isinstance(one, (ast.If, ast.For)) and one in _around(flow, later):
        return True  # In the head of a statement that `later` stands in.
    fixed = [b for b in outer if b[0] == "flag"]
    outer, around = ([b for b in blocks if b[0] != "flag"] for blocks in (outer, inner))
    return all(b in inner for b in fixed) and outer == around[: len(outer)]


def _around(flow: Flow, node: ast.AST) -> list[ast.AST]:
    found = []
    current: ast.AST | None = node
    while current is not None:
        found.append(current)
        current = flow.parents.get(current)
    return found


def _blocks(flow: Flow, constexprs: frozenset[str], statement: ast.stmt) -> list[tuple[object, ...]]:
    """The branches and loops around a statement, outermost first, each with which of its blocks it is."""
    found: list[tuple[object, ...]] = []
    node: ast.AST = statement
    while (parent := flow.parents.get(node)) is not None:
        if isinstance(parent, ast.If):
            arm = any(s is node for s in parent.body)
            fixed = is_constexpr_test(parent.test, constexprs) and not any(
                n in flow.reaching and flow.reaching[n].kind != "parameter"
                for n in ast.walk(parent.test)
                if isinstance(n, ast.Name)
            )
            found.append(("flag", ast.dump(parent.test), arm) if fixed else ("if", id(parent), arm))
        elif isinstance(parent, (ast.For, ast.While)):
            found.append(("loop", id(parent), any(s is node for s in parent.body)))
        elif isinstance(parent, ast.stmt) and parent is not flow.function:
            found.append(("other", id(parent)))
        node = parent
    return found[::-1]


def is_conditional(flow: Flow, node: ast.AST, statement: ast.AST) -> bool:
    """True inside an expression of which only a part may be evaluated."""
    while node is not statement:
        child, node = node, flow.parents[node]
        if isinstance(node, ast.IfExp) and child is not node.test:
            return True
        if isinstance(node, ast.BoolOp) and child is not node.values[0]:
            return True
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return True
    return False


def position(node: ast.AST) -> tuple[int, int]:
    """Where a node begins in the source."""
    return int(getattr(node, "lineno", 0)), int(getattr(node, "col_offset", 0))


def end_position(node: ast.AST) -> tuple[int, int]:
    """Where a node ends: what a call does happens after all that stands inside it."""
    return int(getattr(node, "end_lineno", 0)), int(getattr(node, "end_col_offset", 0))


def between(flow: Flow, earlier: ast.AST, later: ast.AST) -> list[ast.AST]:
    """Every node that may be evaluated after `earlier` and before `later`, where `earlier` has surely run: those that
    stand between, and whole loops around `later` that `earlier` stands outside of."""
    after, before = end_position(earlier), end_position(later)
    outside = set(_around(flow, earlier))
    around = _around(flow, later)
    # What a `for` counts over is evaluated once, before its rounds.
    loops = [a for a in around if isinstance(a, ast.While) or (isinstance(a, ast.For) and a.iter not in around)]
    inside = {n for loop in loops if loop not in outside for n in ast.walk(loop)}
    return [n for n in flow.parents if n in inside or after < end_position(n) < before]


def writes_between(module: Module, flow: Flow, earlier: ast.AST, later: ast.AST) -> list[ast.Call]:
    """Calls after `earlier` and before `later` that may change memory, in source order."""
    found = [n for n in between(flow, earlier, later) if isinstance(n, ast.Call) and changes_memory(module, flow, n)]
    return sorted(found, key=position)
