"""pipeline_loads: ask for pipeline stages in loops whose loads do not wait for what the loop carries.

rewrite:  for t in range(0, T):  ->  for t in tl.range(0, T, num_stages=3):

Loads of later rounds are then issued while earlier rounds compute.

Conditions
    - an innermost loop over `range` or `tl.range` that names no num_stages and is not unrolled;
    - it loads a block directly in its body, not under a run-time branch, whose address does not depend on values that
      the loop computes and carries (a pointer or counter that moves by a fixed step may be carried);
    - nothing in it writes memory that it may load from (parameters given the same argument at a launch count as one),
      and it holds no atomic, barrier, volatile load or unknown call: a load issued early must not miss a write;
    - no block pointer is loaded: its prefetch was seen to leave the tensor in spite of the boundary check;
    - a loop with a dot has not had its stages chosen already, by an autotuner or at the launch.
    Loops that do not meet them are left; where none does, the primitive refuses.

Numerics
    `bitwise`: the same operations in the same order.

Refuses: pattern_not_found, already_applied, loads_follow_carry, loop_writes_what_it_loads, option_belongs_to_autotuner,
bad_setting, unknown_construct.
"""

from __future__ import annotations

import ast

from skel.store.schema import NumericsClass, Refusal

from ..analysis.effects import changes_memory, is_volatile
from ..analysis.facts import Facts, analyse
from ..analysis.flow import Definition, Flow, flow_of
from ..analysis.operators import callee_of, is_method, operation
from ..analysis.syntax import is_constexpr_test
from ..conditions.aliases import aliases_of
from ..kernel.definition import KernelDef, Module
from ..kernel.edits import Edit
from ..kernel.insert import insert_arguments
from ..kernel.launch import launches_of
from ..reasons import Refuse, refusal, refuse
from .base import Primitive
from .names import language_name

STAGES = (2, 3, 4)
_STEPS = frozenset({"cdiv", "cast", "to", "minimum", "maximum", "next_power_of_2", "multiple_of", "program_id"})


def pipeline_loads(module: Module, kernel: KernelDef, stages: int = 2) -> list[Edit]:
    """Edits that give every eligible loop of the kernel `stages` stages (2, 3 or 4). Raises Refuse."""
    if stages not in STAGES:
        raise refuse("bad_setting", kernel.node, setting="stages", value=stages, why="it is 2, 3 or 4")
    flow = flow_of(kernel.node)
    if flow.opaque:
        statement = flow.opaque[0]
        raise refuse("unknown_construct", statement, construct=f"`{type(statement).__name__.lower()}`")
    loops = [n for n in ast.walk(kernel.node) if isinstance(n, ast.For) and _counts(module, flow, n)]
    if not loops:
        raise refuse("pattern_not_found", kernel.node, kernel=kernel.name, skeleton="pipeline_loads")
    check = _Check(module, kernel, flow)
    language = language_name(module, kernel)
    if language is None:
        raise refuse("unknown_construct", kernel.node, construct="a file that does not import triton.language")
    edits: list[Edit] = []
    reasons: list[Refusal] = []
    for loop in sorted(loops, key=lambda n: n.lineno):
        reason = check.problem(loop)
        if reason is not None:
            reasons.append(reason)
            continue
        call = loop.iter
        assert isinstance(call, ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id == "range":
            edits.append(Edit(*module.source.span(call.func), f"{language}.range"))
        edits += insert_arguments(module.source, call, [f"num_stages={stages}"])
    if not edits:
        raise _refusals(reasons)
    return edits


def _refusals(reasons: list[Refusal]) -> Refuse:
    """The refusal that says most, with the others behind it."""
    ranked = sorted(dict.fromkeys(reasons), key=lambda r: r.code == "pattern_not_found")
    return Refuse(ranked[0], ranked[1:])


def _counts(module: Module, flow: Flow, loop: ast.For) -> bool:
    """True for a loop over `range(...)` or `tl.range(...)`."""
    call = loop.iter
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Name) and call.func.id == "range" and call.func not in flow.reaching:
        return True
    return operation(module, flow, call) == "range" and not is_method(module, flow, call)


class _Check:
    def __init__(self, module: Module, kernel: KernelDef, flow: Flow) -> None:
        self.module, self.kernel, self.flow = module, kernel, flow
        self.facts: Facts = analyse(module, kernel)
        self.launches = launches_of(module, kernel)
        self.aliases = aliases_of(module, self.launches)

    def problem(self, loop: ast.For) -> Refusal | None:
        """Why a loop is not pipelined; None where it may be."""
        nothing = refusal("pattern_not_found", loop, kernel=self.kernel.name, skeleton="pipeline_loads")
        inside = {n for s in loop.body for n in ast.walk(s)}
        if any(isinstance(n, (ast.For, ast.While, ast.Return)) for n in inside):
            return nothing
        call = loop.iter
        assert isinstance(call, ast.Call)
        starred = any(isinstance(a, ast.Starred) for a in call.args)
        if starred or any(k.arg in ("num_stages", None) for k in call.keywords):
            return refusal("already_applied", loop, kernel=self.kernel.name, skeleton="pipeline_loads")
        loads = [n for n in inside if isinstance(n, ast.Call) and operation(self.module, self.flow, n) == "load"]
        blocks = [n for n in loads if self._is_block_pointer(n)]
        if blocks:
            return refusal("unknown_construct", blocks[0], also=[loop], construct="a block pointer in a pipelined loop")
        direct = [n for n in loads if n.args and self._is_block(n) and self._is_direct(n, loop)]
        if not direct:
            return nothing
        chosen = self._chosen_elsewhere(inside)
        if chosen is not None:
            return chosen
        writes = self._write(loop, inside)
        if writes is not None:
            return refusal("loop_writes_what_it_loads", writes, also=[loop])
        follows = [n for n in direct if self._follows(n.args[0], loop)]
        if len(follows) == len(direct):
            return refusal("loads_follow_carry", follows[0], also=[loop])
        return None

    def _chosen_elsewhere(self, inside: set[ast.AST]) -> Refusal | None:
        """Stages that the autotuner or a launch sets for loops with dots; other loops do not heed those."""
        dots = [n for n in inside if isinstance(n, ast.Call) and operation(self.module, self.flow, n) == "dot"]
        name = self.kernel.name
        if dots and self.kernel.autotune is not None:
            return refusal("option_belongs_to_autotuner", self.kernel.autotune, dots, option="num_stages", kernel=name)
        if dots and any("num_stages" in launch.options or launch.splats for launch in self.launches):
            return refusal("already_applied", dots[0], kernel=name, skeleton="pipeline_loads")
        return None

    def _is_block_pointer(self, load: ast.Call) -> bool:
        if not load.args or any(k.arg == "boundary_check" for k in load.keywords):
            return True
        values = [events.values.get(load.args[0]) for events in self.facts.runs]
        return any(v is not None and v.block is not None for v in values)

    def _is_block(self, load: ast.Call) -> bool:
        values = [events.values.get(load.args[0]) for events in self.facts.runs]
        return any(v is not None and bool(v.dims) for v in values)

    def _is_direct(self, node: ast.AST, loop: ast.For) -> bool:
        """True under no branch but constexpr ones."""
        while node is not loop:
            node = self.flow.parents[node]
            if isinstance(node, ast.If) and not is_constexpr_test(node.test, self.kernel.constexprs):
                return False
        return True

    def _write(self, loop: ast.For, inside: set[ast.AST]) -> ast.AST | None:
        """A write in the loop that one of its loads may read, or anything whose effect is not known."""
        for node in inside:
            if isinstance(node, ast.Call) and operation(self.module, self.flow, node) == "load":
                if is_volatile(self.module, self.flow, node):
                    return node  # It waits for what others write, and may say that the rest is there.
        accesses = [a for a in self.facts.accesses if a.top in inside or a.node in inside]
        read = {self._root(b) for a in accesses if a.kind == "load" for b in a.pointer.bases}
        unknown = any(a.kind == "load" and not a.pointer.bases for a in accesses)
        for access in accesses:
            if access.kind == "load":
                continue
            written = {self._root(b) for b in access.pointer.bases}
            if access.kind != "store" or not written or unknown or written & read:
                return access.top
        known = {a.node for a in accesses}
        for node in inside:
            if isinstance(node, ast.Call) and node not in known and changes_memory(self.module, self.flow, node):
                if not self._is_followed(node, loop):
                    return node
        return None

    def _is_followed(self, call: ast.Call, loop: ast.For) -> bool:
        """True for a helper whose every store the facts hold; such stores were looked at above."""
        callee = callee_of(self.module, self.flow, call)
        if callee is None or callee.triton is not None or not callee.definitions:
            return False
        stores = [a for a in self.facts.stores if a.path and a.path[0] == call.lineno]
        calls = [
            n
            for m, k in callee.definitions
            for n in ast.walk(k.node)
            if isinstance(n, ast.Call) and changes_memory(m, flow_of(k.node), n)
        ]
        jit = {n for m, k in callee.definitions for d in k.node.decorator_list for n in ast.walk(d)}
        return all(n in jit or any(a.node is n for a in stores) for n in calls)

    def _root(self, base: str) -> str:
        return self.aliases.get(base, base)

    def _follows(self, address: ast.expr, loop: ast.For) -> bool:
        """True where the address depends on something that the loop carries, other than by fixed steps."""
        inside = {n for s in loop.body for n in ast.walk(s)}
        seen: set[object] = set()
        pending: list[ast.AST] = [address]
        while pending:
            node = pending.pop()
            if node in seen:
                continue
            seen.add(node)
            made = self.flow.reaching.get(node) if isinstance(node, ast.Name) else None
            if made is not None:
                stack = [made]
                while stack:
                    one = stack.pop()
                    if one in seen:
                        continue
                    seen.add(one)
                    if one.kind == "carry" and one.node is loop:
                        if not self._steps(one, inside):
                            return True
                        continue
                    if one.kind == "loop":
                        continue
                    if one.value is not None:
                        pending.append(one.value)
                    stack += one.sources
                continue
            pending += [c for c in ast.walk(node) if c is not node and isinstance(c, ast.Name)]
        return False

    def _steps(self, carried: Definition, inside: set[ast.AST]) -> bool:
        """True where each round adds to it what needs no memory and no other carried value."""
        for made in carried.sources[1:]:
            seen: set[Definition] = set()
            stack = [made]
            while stack:
                one = stack.pop()
                if one is carried or one in seen or one.kind in ("loop", "parameter"):
                    continue
                seen.add(one)
                if one.kind == "carry" or one.kind == "unpack":
                    return False
                if one.statement is None or one.statement not in inside:
                    continue
                stack += one.sources
                for n in ast.walk(one.value) if one.value is not None else ():
                    if isinstance(n, ast.Call) and operation(self.module, self.flow, n) not in _STEPS:
                        return False
                    if isinstance(n, ast.Name) and n in self.flow.reaching:
                        stack.append(self.flow.reaching[n])
        return True


PRIMITIVE = Primitive("pipeline_loads", pipeline_loads, NumericsClass.BITWISE, ("stages",))
