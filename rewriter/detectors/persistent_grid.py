"""persistent_grid. Used: a program takes every n-th piece of work, of n programs, or its share of all of it.

for work in range(pid, count, tl.num_programs(0))         a stride by the number of programs
for row in range(pid * share, (pid + 1) * share)          a share of the rows, one share a multiprocessor
"""

from __future__ import annotations

import ast

from ..kernel.idioms import follow, identity
from .base import Detector, Seen
from .host import grid_dims
from .view import KernelView


def _uses(view: KernelView) -> list[Seen]:
    found = []
    for loop in view.loops:
        if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call) or len(loop.iter.args) < 2:
            continue
        if len(loop.iter.args) == 2:
            if _is_share(view, loop.iter.args[0]):
                found.append(Seen(loop.lineno, "takes its share of all work, one share a multiprocessor"))
            continue
        if _is_strided(view, loop.iter.args[0], loop.iter.args[2]):
            found.append(Seen(loop.lineno, "takes work in strides of the number of programs"))
    return found


def persistent_loops(view: KernelView) -> list[ast.stmt]:
    """Loops that take every n-th piece of work, of n programs: a round of one is a program of its own elsewhere."""
    return [
        loop
        for loop in view.loops
        if isinstance(loop, ast.For)
        and isinstance(loop.iter, ast.Call)
        and len(loop.iter.args) == 3
        and _is_strided(view, loop.iter.args[0], loop.iter.args[2])
    ]


def shared_rows(view: KernelView) -> list[ast.stmt]:
    """Loops over a program's share of the rows, one row a round: `range(pid * share, (pid + 1) * share)`."""
    found: list[ast.stmt] = []
    for loop in view.loops:
        if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 2:
            start = view.value(loop.iter.args[0])
            poly = start.poly if start is not None else None
            if poly is not None and any(len(m) > 1 and any(a.kind == "axis" for a in m) for m, _ in poly.terms):
                found.append(loop)
    return found


def _is_strided(view: KernelView, start: ast.expr, step: ast.expr) -> bool:
    """From the program's own piece on, by the number of programs: both may count elements, pieces of one size."""
    value = view.value(start)
    if value is None or value.poly is None or len(value.poly.terms) != 1:
        return False
    ((atoms, _),) = value.poly.terms
    axes = [a for a in atoms if a.kind == "axis"]
    return len(axes) == 1 and _counts_programs(view, step, axes[0].axis.root)


def _is_share(view: KernelView, start: ast.expr) -> bool:
    """A program id times a length, where the launch makes as many programs as the device has multiprocessors."""
    value = view.value(start)
    poly = value.poly if value is not None else None
    axes = {a.axis for m, _ in poly.terms if len(m) > 1 for a in m if a.kind == "axis"} if poly is not None else set()
    for axis in axes:
        for launch in view.launches if axis.root.isdigit() and not axis.steps else ():
            dims = grid_dims(view, launch)
            if int(axis.root) < len(dims) and _counts_processors(follow(view.module, dims[int(axis.root)])[0]):
                return True
    return False


def _counts_processors(node: ast.expr) -> bool:
    """`get_device_properties(...).multi_processor_count`, or a helper that is called after it."""
    names = [
        n.attr if isinstance(n, ast.Attribute) else n.id
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute | ast.Name)
    ]
    plain = [name.lower().replace("_", "") for name in names]
    return any(word in name for name in plain for word in ("multiprocessor", "numsm", "smcount"))


def _counts_programs(view: KernelView, step: ast.expr, root: str) -> bool:
    """`tl.num_programs(k)`, or a parameter that the launch also gives the grid."""
    value = view.value(step)
    if value is not None and any(s.startswith("num_programs") for s in value.symbols):
        return True
    if not isinstance(step, ast.Name) or not root.isdigit():
        return False
    for launch in view.launches:
        dims, argument = grid_dims(view, launch), launch.arguments.get(step.id)
        if argument is not None and int(root) < len(dims) and _is_capped_by(view, dims[int(root)], argument):
            return True
    # Without a launch to look at: a stride by a constexpr that is no size of a block.
    blocks = {
        n.id
        for c in view.own.called("arange", "zeros", "full")
        for a in c.args
        for n in ast.walk(a)
        if isinstance(n, ast.Name)
    }
    return not view.launches and step.id in view.kernel.constexprs and step.id not in blocks


def _is_capped_by(view: KernelView, dimension: ast.expr, count: ast.expr) -> bool:
    """The count itself, or `min(count, pieces)`: with fewer pieces no program comes to a second one."""
    if ast.dump(dimension) == ast.dump(count):
        return True
    wanted = identity(view.module, count)
    whole = follow(view.module, dimension)[0]
    parts = (
        whole.args
        if isinstance(whole, ast.Call) and isinstance(whole.func, ast.Name) and whole.func.id == "min"
        else []
    )
    return any(identity(view.module, d) == wanted for d in (dimension, whole, *parts))


DETECTOR = Detector("persistent_grid", _uses)
