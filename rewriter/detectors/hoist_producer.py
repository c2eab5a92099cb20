"""hoist_producer. Used: a kernel reads a buffer that an earlier launch of the same function has made for it alone.
Symptom: work repeats in every tile of an axis that cannot be one tile, because tiles reduce over their own lanes."""

from __future__ import annotations

import ast

from ..analysis.lanes import lane_report
from ..kernel.definition import KernelDef
from ..kernel.launch import Launch
from ..kernel.scope import reaching
from .base import Detector, Seen
from .fuse_vtiles import repeated, walked_axes
from .split_k import shares_sums
from .split_kv import combines_parts
from .view import KernelView, launches_in

_ALLOCATORS = frozenset({"empty", "empty_like", "new_empty", "zeros", "zeros_like", "new_zeros"})


def _uses(view: KernelView) -> list[Seen]:
    found: list[Seen] = []
    if combines_parts(view):
        return found
    for launch in view.launches:
        for name, argument in launch.arguments.items():
            if isinstance(argument, ast.Name) and _reads_only(view, name) and _is_scratch(view, launch, argument):
                producer = _producer(view, launch, argument.id)
                if producer is not None:
                    found.append(
                        Seen(
                            view.kernel.node.lineno,
                            f"reads {name}, which a launch of {producer.name} before it computes",
                        )
                    )
    return found


def _reads_only(view: KernelView, name: str) -> bool:
    """Read, never written, and not only to add up parts that other programs left."""
    reads = [a for a in view.facts.loads if name in a.pointer.bases]
    if not reads or any(name in a.pointer.bases for a in view.facts.stores):
        return False
    return not all(
        isinstance(s := view.flow.statement(a.node), ast.AugAssign)
        and view.flow.loops_around(a.node)
        and isinstance(s.op, ast.Add)
        for a in reads
        if not a.path and a.node in view.flow.parents
    )


def _is_scratch(view: KernelView, launch: Launch, argument: ast.Name) -> bool:
    """The launching function allocates it, and hands it to nobody but kernels."""
    if launch.function is None:
        return False
    bindings = reaching(view.module.source, argument.id, argument)
    if not bindings or not all(_allocates(b.value) for b in bindings):
        return False
    return not any(
        isinstance(n, ast.Return)
        and n.value is not None
        and any(isinstance(x, ast.Name) and x.id == argument.id for x in ast.walk(n.value))
        for n in ast.walk(launch.function)
    )


def _allocates(node: ast.expr | None) -> bool:
    if isinstance(node, ast.IfExp):
        return _allocates(node.body) or _allocates(node.orelse)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ALLOCATORS


def _producer(view: KernelView, launch: Launch, buffer: str) -> KernelDef | None:
    """The kernel that an earlier launch of the same function writes the buffer with; not one that leaves parts."""
    for kernel in view.module.kernels:
        if kernel is view.kernel:
            continue
        for other in launches_in(view.module, kernel):
            if other.function is not launch.function or other.line >= launch.line:
                continue
            names = [p for p, a in other.arguments.items() if isinstance(a, ast.Name) and a.id == buffer]
            facts = view.of(kernel)
            if any(n in a.pointer.bases for n in names for a in facts.facts.stores) and not shares_sums(facts):
                return kernel
    return None


def _opportunities(view: KernelView) -> list[Seen]:
    found = []
    for axis in walked_axes(view):
        work = repeated(view, axis)
        if work and lane_report(view.facts, axis).verdict == "nonlinear_partials":
            name = view.facts.axis_name(axis)
            found.append(
                Seen(
                    work[0].line,
                    f"every tile along {name} repeats this; tiles that reduce over their own lanes cannot become one",
                )
            )
    return found


DETECTOR = Detector("hoist_producer", _uses, _opportunities)
