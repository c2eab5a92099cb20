"""swizzle_shared_memory. Used: an index into shared memory has bits of the row folded into the column with `^`.

`phase ^ 1` and other flips of a flag are not swizzles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skel.rewriter.detectors.base import Seen

from ..expressions import (
    binaries,
    declared,
    definitions,
    inside,
    is_number,
    line_of,
    names_given,
    names_in,
    operator_of,
)
from ..functions import CudaFunction, below, plain, text_of
from ..index import CudaDetector, Index

if TYPE_CHECKING:
    from tree_sitter import Node

_SHARED = ("smem", "shared", "sram")
"""How parameters that point into shared memory are called: their types do not say."""
_ADDRESSES = frozenset({
    "identifier", "field_expression", "subscript_expression", "pointer_expression", "call_expression",
    "binary_expression", "cast_expression", "lambda_expression",
})  # fmt: skip
"""Expressions that may be an address made of another one."""
_CONVERSIONS = frozenset({"__cvta_generic_to_shared", "cast_smem_ptr_to_uint"})


def _uses(function: CudaFunction, index: Index) -> list[Seen]:
    shared = _shared_names(function)
    if not shared:
        return []
    found = []
    folds = _folds(function)
    addresses = [(node, names_in(node)) for node in _addresses(function, shared)] if folds else []
    for node, name in folds:
        reached = {name} if name else set()
        for _ in range(4):  # names computed from the folded index
            reached |= {n for n, names in names_given(function).items() if reached & names}
        for address, names in addresses:
            if inside(node, address) or reached & names:
                found.append(Seen(line_of(node), "folds the row into the column of an index into shared memory"))
                break
    return found[:1]


def _folds(function: CudaFunction) -> list[tuple[Node, str]]:
    """Each `a ^ b` and `a ^= b` of two values, with the name that it is kept in."""
    found = []
    for node, left, right in binaries(function, "^"):
        if not is_number(left) and not is_number(right) and not _is_flag(left) and not _is_flag(right):
            parent = node.parent
            while parent is not None and parent.type not in (
                "init_declarator",
                "assignment_expression",
                "return_statement",
            ):
                parent = parent.parent if parent.type.endswith("expression") or parent.type == "argument_list" else None
            target = parent.child_by_field_name("declarator") or parent.child_by_field_name("left") if parent else None
            found.append((node, declared(target) if target is not None else ""))
    for node in function.of("assignment_expression"):
        target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator_of(node) == "^=" and target is not None and value is not None:
            if not is_number(value) and not _is_flag(value):
                found.append((node, declared(target)))
    return found


def _is_flag(node: Node) -> bool:
    """A truth value, or a flip by one: no index."""
    return any(
        n.type == "binary_expression" and operator_of(n) in ("==", "!=", "<", ">", "<=", ">=", "&&", "||")
        for n in below(node)
    ) or any(word in plain(node).lower() for word in ("phase", "parity"))


def _shared_names(function: CudaFunction) -> set[str]:
    found = {p for p in function.parameters if any(word in p.lower() for word in _SHARED)}
    for node in function.of("declaration"):
        if "__shared__" in text_of(node):
            found |= {text_of(n) for n in below(node) if n.type == "identifier"} - {"__shared__"}
    given, names = definitions(function), names_given(function)
    for _ in range(4):
        found |= {
            name
            for name, values in given.items()
            if name not in found
            and (names[name] & found or names[name] & _CONVERSIONS)
            and any(_points(v, found) for v in values)
        }
    return found


def _points(value: Node, shared: set[str]) -> bool:
    """True where a value is an address made of a shared one: a cast, a sum, a member, `&x[i]`; not a load from it."""
    names = names_in(value)
    if not names & shared:
        return bool(names & _CONVERSIONS)
    return value.type in _ADDRESSES


def _addresses(function: CudaFunction, shared: set[str]) -> list[Node]:
    """Subscripts of shared arrays, sums with shared pointers, and calls that are given one."""
    found = []
    for node in function.of("subscript_expression"):
        base = node.child_by_field_name("argument")
        if base is not None and names_in(base) & shared:
            found.append(node)
    found += [n for n, left, right in binaries(function, "+") if (names_in(left) | names_in(right)) & shared]
    return found


DETECTOR = CudaDetector("swizzle_shared_memory", _uses)
