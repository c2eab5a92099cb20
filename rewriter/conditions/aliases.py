"""Parameters that may share memory: at some launch their arguments are, or may be, one tensor or views of it."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence

from ..kernel.definition import Module
from ..kernel.idioms import follow, identity
from ..kernel.launch import Launch

VIEWS = frozenset(
    {
        "view", "reshape", "view_as", "reshape_as", "t", "transpose", "permute", "flatten", "unflatten", "squeeze",
        "unsqueeze", "contiguous", "detach", "expand", "expand_as", "narrow", "select", "movedim", "swapaxes",
        "as_strided", "chunk", "split", "unbind", "data", "T", "mT",
    }
)  # fmt: skip
"""Methods and attributes of a tensor that give the same memory, or may."""


def aliases_of(module: Module, launches: Sequence[Launch]) -> dict[str, str]:
    """Each parameter that may share its argument's memory with an earlier one, and that one."""
    found: dict[str, str] = {}
    for launch in launches:
        seen: list[tuple[str, tuple[tuple[Hashable, Hashable], ...]]] = []
        for name, argument in launch.arguments.items():
            if isinstance(argument, ast.Constant):
                continue
            roots = tuple(_roots(module, argument))
            for earlier, others in seen:
                if any(_shared(a, b) for a in roots for b in others):
                    found.setdefault(name, found.get(earlier, earlier))
                    break
            seen.append((name, roots))
    return found


def _shared(a: tuple[Hashable, Hashable], b: tuple[Hashable, Hashable]) -> bool:
    """The same tensor; two different parts of one are taken to be apart."""
    return a[0] == b[0] and (a[1] == b[1] or a[1] is None or b[1] is None)


def _roots(module: Module, node: ast.expr) -> Iterator[tuple[Hashable, Hashable]]:
    """(tensor, part of it) for every tensor that the expression may stand for; the part is None for all of it."""
    value = follow(module, node)[0]
    if isinstance(value, ast.Constant):
        return  # No tensor: two outputs that are both left out share nothing.
    if isinstance(value, ast.IfExp):
        yield from _roots(module, value.body)
        yield from _roots(module, value.orelse)
        return
    if isinstance(value, ast.BoolOp):
        for one in value.values:
            yield from _roots(module, one)
        return
    part: Hashable = None
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS:
            node = node.func.value
        elif isinstance(node, ast.Attribute) and node.attr in VIEWS:
            node = node.value
        elif isinstance(node, ast.Subscript) and not _is_key(node.slice):
            part = part or identity(module, node.slice)
            node = node.value
        else:
            followed = follow(module, node)[0]
            if followed is node or not isinstance(followed, ast.Call | ast.Attribute | ast.Subscript):
                break
            if isinstance(followed, ast.Call) and not (
                isinstance(followed.func, ast.Attribute) and followed.func.attr in VIEWS
            ):
                break
            node = followed
    yield identity(module, node), part


def _is_key(node: ast.expr) -> bool:
    """True for `inputs["q"]`: an entry of a table, not a part of a tensor."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
