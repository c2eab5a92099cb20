"""split_k. Used: programs that share one sum, by atomic adds or through a buffer with a slot for each part.

A sum is shared along an axis where the axis chooses which part of a reduction a program does, and does not choose the
place of the result, other than by a slot of its own.
"""

from __future__ import annotations

import ast

from ..analysis.axes import Axis
from ..analysis.events import Access
from .base import Detector, Seen
from .host import is_row_index
from .persistent_grid import shared_rows
from .split_kv import splits_keys
from .view import KernelView

_SUMS = frozenset({"sum", "dot"})
_BENDS = frozenset(
    "exp exp2 log log2 sqrt sqrt_rn rsqrt max min maximum minimum abs sigmoid tanh erf sin cos softmax argmax argmin "
    "div_rn fdiv cumsum associative_scan reduce".split()
)
"""Operations whose results for parts do not add up to the result for the whole."""


def _uses(view: KernelView) -> list[Seen]:
    if splits_keys(view):
        return []
    found = []
    for access in view.facts.stores:
        if access.kind == "atomic_add" and _is_float_sum(access) and _adds_across(access):
            found.append(Seen(access.line, "programs add their parts with atomics"))
        elif access.kind == "store" and _slots(view, access):
            found.append(Seen(access.line, "each program leaves its part of a sum in a slot of its own"))
    return found


def shares_sums(view: KernelView) -> bool:
    """True where the kernel leaves parts of sums."""
    return bool(_uses(view))


def _is_float_sum(access: Access) -> bool:
    """A value, not a counter: counters add literals."""
    return access.value is not None and access.value.constant is None and access.value.poly is None


def _adds_across(access: Access) -> bool:
    """Some axis that the value depends on is no part of the address."""
    value = access.value
    return (value is not None and any(not access.pointer.depends_on(a) for a in value.axes)) or bool(
        value and value.memory
    )


def _slots(view: KernelView, access: Access) -> list[Axis]:
    """Axes over whose lanes the value was summed, and whose index is part of the address."""
    value, pointer = access.value, access.pointer
    if value is None:
        return []
    # A part that went through a norm or a logarithm adds up to nothing.
    adds_up = _adds_up(view, access)
    summed = {c.axis for c in value.cross if c.operation in _SUMS and (c.linear or adds_up)}
    slotted = {a for a in summed if a in pointer.uniform and not _counts_heads(view, a) and not is_row_index(view, a)}
    return sorted(slotted | _strided(view, access), key=str)


def _counts_heads(view: KernelView, axis: Axis) -> bool:
    """A digit below a parameter, as in `i_bh % H`: heads that lie side by side look like tiles of one row."""
    return bool(axis.steps) and axis.steps[-1][0] == "%" and axis.steps[-1][1] in view.kernel.parameter_names


def _adds_up(view: KernelView, access: Access) -> bool:
    """True where only sums, products, loads and the like lie behind the stored value, all in the kernel itself."""
    from .trace import sources_of, stored_value

    value = stored_value(access.node, False)
    if access.path or value is None:
        return False
    back = sources_of(view, value)
    calls = [view.operation(n) for n in back if isinstance(n, ast.Call)]
    divided = any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div | ast.Pow) for n in back)
    return not divided and all(name is not None and name not in _BENDS for name in calls)


def _strided(view: KernelView, access: Access) -> set[Axis]:
    """Axes that pick the part of a loop that a sum runs over: `for k in range(pid * BLOCK, K, BLOCK * SPLITS)`."""
    found = set()
    for loop in view.loops:
        if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call) or len(loop.iter.args) < 2:
            continue
        start = view.value(loop.iter.args[0])
        if start is None or not _sums_in(view, loop, access):
            continue
        if _tiles_rows(view, loop, access):
            continue
        # The axis itself stands in the start; one that only a length read from memory depends on picks no part.
        named = {a.axis for a in start.poly.atoms if a.kind == "axis"} if start.poly is not None else set()
        for axis in named:
            if axis in access.pointer.uniform and not any(axis.overlaps(lane) for lane in access.pointer.lanes):
                found.add(axis)
    return found


def _tiles_rows(view: KernelView, loop: ast.For, access: Access) -> bool:
    """True where the start is a tile's first row, as on the diagonal of causal attention: it sizes the block."""
    from .trace import sources_of

    sizes = {d.size for d in access.pointer.dims or ()}
    assert isinstance(loop.iter, ast.Call)
    return any(
        isinstance(n, ast.BinOp)
        and isinstance(n.op, ast.Mult)
        and any(
            (v := view.value(s)) is not None and v.poly is not None and v.poly.key in sizes for s in (n.left, n.right)
        )
        for n in sources_of(view, loop.iter.args[0])
    )


def _sums_in(view: KernelView, loop: ast.For, access: Access) -> bool:
    """True where the loop adds up the stored value."""
    from .trace import sources_of, stored_value

    value = stored_value(access.node, False)
    inside = set(ast.walk(loop))
    # What is stored in every round is no sum over the rounds.
    if access.path or value is None or access.node in inside:
        return False
    reductions = set(view.own.called("dot", "sum")) & inside
    back = sources_of(view, value)
    return bool(reductions & back) or (
        loop in shared_rows(view) and any(s.value in back for s in _only_added(view, loop))
    )


def _only_added(view: KernelView, loop: ast.For) -> list[ast.AugAssign]:
    """`dw += dy * x` straight in the loop, for names that nothing else in it writes: columns of a sum over its rows."""
    steps = [s for s in loop.body if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name)]
    written = [n.id for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return [
        s
        for s in steps
        if isinstance(s.op, ast.Add)
        and isinstance(s.target, ast.Name)
        and written.count(s.target.id) == 1
        and view.is_block(s.value)
    ]


DETECTOR = Detector("split_k", _uses)
