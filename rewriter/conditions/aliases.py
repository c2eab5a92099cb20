"""Parameters that may share memory: at some launch their arguments are, or may be, one tensor or views of it."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from ..kernel.definition import Module
from ..kernel.idioms import follow, identity
from ..kernel.launch import Launch
from ..kernel.scope import Binding, Function, enclosing_function, reaching
from .tensor_parts import Part, are_apart, part_of

_DEPTH = 4
"""Names set in several ways that are followed."""
MAX_CALLERS = 3
"""Calls that are followed outwards."""

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


@dataclass(frozen=True)
class Root:
    """A tensor that an argument may stand for, whole or in part."""

    tensor: Hashable
    part: Part | None = None
    parameter: ast.arg | None = None
    """The launcher's own, where it is what its caller gave."""


def aliases_of(module: Module, launches: Sequence[Launch]) -> dict[str, str]:
    """Each parameter that may share its argument's memory with an earlier one, and that one."""
    found: dict[str, str] = {}
    for launch in launches:
        seen: list[tuple[str, tuple[Root, ...]]] = []
        given_twice = _given_twice(module, launch.function) if launch.function is not None else frozenset()
        for name, argument in launch.arguments.items():
            if isinstance(argument, ast.Constant):
                continue
            roots = tuple(_roots(module, argument))
            for earlier, others in seen:
                if any(_shared(a, b, given_twice) for a in roots for b in others):
                    found.setdefault(name, found.get(earlier, earlier))
                    break
            seen.append((name, roots))
    return found


def _shared(a: Root, b: Root, given_twice: frozenset[frozenset[ast.arg]] = frozenset()) -> bool:
    """The same tensor, unless two parts of it are apart; or two parameters for which a caller gives one."""
    if a.tensor == b.tensor:
        return a.part is None or b.part is None or not are_apart(a.part, b.part)
    pair = frozenset(p for p in (a.parameter, b.parameter) if p is not None)
    return pair in given_twice


def _given_twice(module: Module, function: Function, depth: int = MAX_CALLERS) -> frozenset[frozenset[ast.arg]]:
    """Pairs of a function's parameters for which some call of it in the file gives the same memory."""
    parameters = [*function.args.posonlyargs, *function.args.args]
    by_name = {a.arg: a for a in (*parameters, *function.args.kwonlyargs)}
    found: set[frozenset[ast.arg]] = set()
    for call in (n for n in module.source.parents if isinstance(n, ast.Call)):
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
        if called != function.name:
            continue
        shift = 1 if isinstance(call.func, ast.Attribute) and parameters and parameters[0].arg in ("self", "cls") else 0
        given = dict(zip(parameters[shift:], call.args, strict=False))
        given |= {by_name[k.arg]: k.value for k in call.keywords if k.arg in by_name}
        outer = enclosing_function(module.source, call)
        follows = outer is not None and outer is not function and depth > 1
        outside = _given_twice(module, outer, depth - 1) if outer is not None and follows else frozenset()
        tensors = [(p, tuple(_roots(module, v))) for p, v in given.items() if not isinstance(v, ast.Constant)]
        for (p, some), (q, others) in itertools.combinations(tensors, 2):
            if any(_shared(a, b, outside) for a in some for b in others):
                found.add(frozenset({p, q}))
    return frozenset(found)


def _roots(module: Module, node: ast.expr, depth: int = _DEPTH) -> Iterator[Root]:
    """Every tensor that the expression may stand for, and the part of it."""
    value = follow(module, node)[0]
    if isinstance(value, ast.Constant):
        return  # No tensor: two outputs that are both left out share nothing.
    if isinstance(value, ast.IfExp):
        yield from _roots(module, value.body, depth)
        yield from _roots(module, value.orelse, depth)
        return
    if isinstance(value, ast.BoolOp):
        for one in value.values:
            yield from _roots(module, one, depth)
        return
    part: Part | None = None
    parts = 0
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS:
            # `torch.reshape(x, ...)` is `x.reshape(...)`.
            is_function = module.names.dotted(node.func.value) is not None and node.args
            node = node.args[0] if is_function else node.func.value
        elif isinstance(node, ast.Attribute) and node.attr in VIEWS:
            node = node.value
        elif isinstance(node, ast.Subscript) and not _is_key(node.slice):
            part, parts = part_of(module, node), parts + 1
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
    part = part if parts == 1 else None
    last = follow(module, node)[0]
    bindings = reaching(module.source, last.id, last) if isinstance(last, ast.Name) else ()
    parameter = next((b.node for b in bindings if b.kind == "parameter" and isinstance(b.node, ast.arg)), None)
    yield Root(identity(module, node), part, parameter)
    plain = len(bindings) == 1 and bindings[0].kind in ("assign", "parameter")
    if isinstance(last, ast.Name) and depth and not plain:
        for binding in bindings:
            if binding.kind == "parameter" and isinstance(binding.node, ast.arg):
                yield Root(("name", last.id, frozenset({id(binding.node)})), None, binding.node)
            yield from (
                Root(r.tensor, None, r.parameter) for v in _given(binding) for r in _roots(module, v, depth - 1)
            )
    for inside in _may_pass_on(follow(module, node)[0], module):
        # Whatever is not known to make memory of its own may hand on what it was given, whole or in part.
        yield from (Root(r.tensor, None, r.parameter) for r in _roots(module, inside, depth))


def _given(binding: Binding) -> list[ast.expr]:
    """What a name may share memory with that is not set by one plain assignment."""
    match binding:
        case Binding(kind="assign", value=ast.expr() as value):
            return [value]
        case Binding(kind="unpack", value=ast.expr() as value) if not _is_shape(value):
            return [value]
        case Binding(kind="loop", statement=ast.For(iter=over)):
            return [over]
        case Binding(kind="augmented", node=ast.expr() as target):
            return [target]  # Changed where it lies: what it was before.
    return []


def _is_shape(node: ast.expr) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in ("shape", "size", "stride") for n in ast.walk(node))


def _entry(table: ast.expr, key: str) -> list[ast.expr]:
    """`x` of `{"a": x}["a"]`, and of a dict made with that keyword."""
    match table:
        case ast.Dict(keys=keys, values=values):
            return [v for k, v in zip(keys, values, strict=True) if not isinstance(k, ast.Constant) or k.value == key]
        case ast.Call(func=ast.Name(id="dict"), args=positional, keywords=keywords):
            return [*positional, *(k.value for k in keywords if k.arg in (None, key))]
    return []


def _may_pass_on(node: ast.expr, module: Module | None = None) -> list[ast.expr]:
    """Expressions whose memory the value may share: of a call that is not known, of a display."""
    match node:
        case ast.Call(keywords=keywords) if any(k.arg == "out" for k in keywords):
            return [*node.args, *(k.value for k in keywords)]
        case ast.Subscript(value=value, slice=ast.Constant(value=str() as key)) if module is not None:
            return _entry(follow(module, value)[0], key)
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
