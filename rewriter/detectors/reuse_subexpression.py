"""reuse_subexpression. Symptom: the same load or transcendental written twice, of the same values, where the first has
surely run before the second and nothing has written the memory in between."""

from __future__ import annotations

import ast

from ..analysis.operations import TRANSCENDENTAL
from .base import Detector, Seen
from .view import KernelView


def _opportunities(view: KernelView) -> list[Seen]:
    first: dict[tuple[object, ...], list[ast.Call]] = {}
    found = []
    for node, name in sorted(view.own.calls, key=lambda pair: (pair[0].lineno, pair[0].col_offset)):
        if (name != "load" and name not in TRANSCENDENTAL) or not node.args:
            continue
        key = _key(view, node)
        if key is None:
            continue
        for earlier in first.get(key, []):
            if _has_run(view, earlier, node) and not (name == "load" and _is_written(view, earlier, node)):
                found.append(Seen(node.lineno, f"repeats the {name} of line {earlier.lineno}"))
                break
        first.setdefault(key, []).append(node)
    return found


def _key(view: KernelView, node: ast.Call) -> tuple[object, ...] | None:
    """The text and what every local name in it holds; None where the call reads a name that is not followed."""
    parts: list[object] = [ast.dump(node)]
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
            made = view.flow.reaching.get(n)
            if made is None and n.id in view.kernel.parameter_names:
                return None
            parts.append(id(made) if made is not None else n.id)
    return tuple(parts)


def _has_run(view: KernelView, earlier: ast.Call, later: ast.Call) -> bool:
    """True where the earlier statement's block is one of the blocks around the later one."""
    flow = view.flow
    one, two = flow.statement(earlier), flow.statement(later)
    if one is two:
        return not _in_arm(view, earlier, one)
    block = _block_of(view, one)
    around: ast.AST = two
    while around is not view.kernel.node:
        if _block_of(view, around) is block and not _in_arm(view, earlier, one):
            return True
        around = flow.parents[around]
    return False


def _block_of(view: KernelView, statement: ast.AST) -> object:
    parent = view.flow.parents.get(statement)
    for field in ("body", "orelse"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and any(s is statement for s in block):
            return block
    return None


def _in_arm(view: KernelView, node: ast.AST, statement: ast.stmt) -> bool:
    """True inside a conditional expression, which may not have run."""
    while node is not statement:
        node = view.flow.parents[node]
        if isinstance(node, ast.IfExp):
            return True
    return False


def _is_written(view: KernelView, earlier: ast.Call, later: ast.Call) -> bool:
    """True where a store to the same tensor, or a wait for other threads, may run between the two."""
    bases = _bases(view, later)
    loops = view.flow.loops_around(later)
    fresh = [loop for loop in loops if loop not in view.flow.loops_around(earlier)]
    waits = [c.lineno for c in view.own.called("debug_barrier", "atomic_cas", "atomic_xchg", "atomic_add")]
    writes = [a.line for a in view.facts.stores if a.pointer.bases & bases or not a.pointer.bases]
    spans = [(earlier.lineno, later.lineno), *((loop.lineno, int(loop.end_lineno or loop.lineno)) for loop in fresh)]
    return any(first <= line <= last for line in (*waits, *writes) for first, last in spans)


def _bases(view: KernelView, node: ast.Call) -> frozenset[str]:
    value = view.value(node.args[0])
    return value.bases if value is not None else frozenset()


DETECTOR = Detector("reuse_subexpression", opportunities=_opportunities)
