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
FRESH = frozenset(
    {
        "empty", "zeros", "ones", "full", "rand", "randn", "randint", "arange", "linspace", "eye", "empty_like",
        "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "new_empty", "new_zeros", "new_ones",
        "new_full", "new_tensor", "empty_strided", "clone", "cumsum", "sum", "cat", "stack", "randperm",
    }
)  # fmt: skip
"""Functions and methods whose result is memory of its own."""
NUMBERS = frozenset(
    {
        "stride", "size", "dim", "numel", "element_size", "item", "storage_offset", "get_device", "is_contiguous",
        "next_power_of_2", "cdiv", "int", "float", "bool", "len", "min", "max", "round", "log2", "sqrt", "ceil",
        "floor", "bit_length", "isinstance", "abs", "pow",
    }
)  # fmt: skip
"""Functions and methods whose result is a number."""


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
            # `torch.reshape(x, ...)` is `x.reshape(...)`.
            is_function = module.names.dotted(node.func.value) is not None and node.args
            node = node.args[0] if is_function else node.func.value
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
    for inside in _may_pass_on(follow(module, node)[0]):
        # Whatever is not known to make memory of its own may hand on what it was given, whole or in part.
        yield from ((root, None) for root, _ in _roots(module, inside))


def _may_pass_on(node: ast.expr) -> list[ast.expr]:
    """Expressions whose memory the value may share: of a call that is not known, of a display."""
    match node:
        case ast.Call(func=ast.Attribute(value=receiver, attr=name)) if name not in FRESH | NUMBERS:
            return [receiver, *node.args, *(k.value for k in node.keywords)]
        case ast.Call(func=ast.Name(id=name)) if name not in FRESH | NUMBERS:
            return [*node.args, *(k.value for k in node.keywords)]
        case ast.Subscript(value=ast.Dict() | ast.List() | ast.Tuple() as display):
            return _may_pass_on(display)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return list(elements)
        case ast.Dict(values=values):
            return list(values)
    return []


def _is_key(node: ast.expr) -> bool:
    """True for `inputs["q"]`: an entry of a table, not a part of a tensor."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
